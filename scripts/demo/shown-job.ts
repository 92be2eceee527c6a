import { type Job, openJob } from '../../test/support/runner/job.ts';
import type { RunningStep, StepResult } from '../../test/support/runner/step.ts';
import { createMasks } from '../../test/support/runner/step-log.ts';
import { DemoFailure, type Ending } from './ending.ts';
import { createLogLines } from './terminal/log-lines.ts';
import { runHeader } from './terminal/run-header.ts';
import type { Screen, Speaker } from './terminal/screen.ts';

type Inputs = Readonly<Record<string, string>>;

/** The expected end of a step. */
type End = 'success' | 'failure' | 'SIGKILL';

/** A step that has started. */
export interface ShownStep {
  readonly pid: number;
  /** Resolves when a line of its log matches. */
  says(pattern: RegExp): Promise<void>;
  /** Ends its process at once, like the kernel when memory runs out. */
  kill(): void;
  /** Resolves when it has ended as expected. */
  done(): Promise<StepResult>;
}

/** A job whose log is shown while it runs. */
export interface ShownJob {
  start(inputs: Inputs, end?: End): Promise<ShownStep>;
  run(inputs: Inputs, end?: End): Promise<StepResult>;
  /** Runs the post-steps. Only those that write to the log are shown. */
  post(): Promise<void>;
  /** Ends all running steps. */
  end(): Promise<void>;
}

export interface ShownJobOptions {
  readonly name: Extract<Speaker, 'nightly' | 'release'>;
  readonly runId: string;
  readonly workflow: string;
  /** `env:` of the job. */
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly folder: string;
  readonly screen: Screen;
  readonly ending: Ending;
}

export async function openShownJob(options: ShownJobOptions): Promise<ShownJob> {
  const { name, environment, secrets, screen, ending } = options;
  const masks = createMasks(secrets);
  let shownLine = createLogLines();
  let beforeFirstLine: readonly string[] = [];
  const show = (line: string): void => {
    const shown = shownLine(line);
    if (shown !== undefined && !ending.signal.aborted) screen.say(name, shown);
  };
  const showBefore = (): void => {
    for (const before of beforeFirstLine) show(before);
    beforeFirstLine = [];
  };
  ending.signal.throwIfAborted();
  const job: Job = await openJob({
    parentFolder: options.folder,
    env: environment,
    secrets,
    run: { job: name, runId: options.runId, workflow: options.workflow },
    onShown(line) {
      showBefore();
      show(line);
    },
  });
  let isFirst = true;
  /** The operations of the remaining post-steps. */
  const operations: (string | undefined)[] = [];

  /** Waits for a step. Kills it if the demo ends, even if that was while the step started. */
  const finished = async (step: RunningStep, what: string, end: End = 'success'): Promise<StepResult> => {
    const kill = (): void => void step.kill();
    ending.signal.addEventListener('abort', kill, { once: true });
    if (ending.signal.aborted) kill();
    const result = await step.finished;
    ending.signal.removeEventListener('abort', kill);
    ending.signal.throwIfAborted();
    const ended = result.signal ?? result.conclusion;
    if (ended === end) return result;
    const reason = result.annotations.map(({ message }) => message).join(' ');
    throw new DemoFailure(`${what} of the job ${name} ended with ${ended}, expected ${end}. ${reason}`.trimEnd());
  };

  const shown: ShownJob = {
    async start(inputs, end) {
      ending.signal.throwIfAborted();
      shownLine = createLogLines();
      for (const line of runHeader(inputs, isFirst ? environment : {})) show(masks.apply(line));
      isFirst = false;
      operations.push(inputs['operation']);
      const step = await job.step({ with: inputs });
      const done = finished(step, `The step ${inputs['operation']}`, end);
      // The step may fail before anything waits for it. Later waiters get the error.
      done.catch(() => {});
      return {
        pid: step.pid,
        kill: () => void step.kill(),
        says: async (pattern) => void (await Promise.race([ending.orEnd(step.waitForLog(pattern)), done])),
        done: () => done,
      };
    },
    run: async (inputs, end) => (await shown.start(inputs, end)).done(),
    async post() {
      for (;;) {
        ending.signal.throwIfAborted();
        shownLine = createLogLines();
        beforeFirstLine = ['##[group]Post Run workspace-automation/workspace-automation@main', '##[endgroup]'];
        // This post-step writes its log last, after effects of it are visible, so its heading is shown first.
        if (operations.pop() === 'lock') showBefore();
        const step = await job.nextPost();
        if (step === undefined) return;
        await finished(step, 'A post-step');
      }
    },
    end: () => job.end(),
  };
  return shown;
}
