import { type CommandFiles, keyValuePairs } from './file-commands.ts';
import { startInKeptProcess } from './kept-process.ts';
import { type Annotation, createStepLog, type Masks } from './step-log.ts';
import { type ProcessEnd, type StepProcess, type StepProcessOptions, startStepProcess } from './step-process.ts';

type Texts = Readonly<Record<string, string>>;

export interface StepResult {
  /** The value of `steps.<id>.conclusion`. */
  readonly conclusion: 'cancelled' | 'failure' | 'success';
  /** 128 plus the number of the signal for a process that a signal has ended; -1 if it could not be started. */
  readonly exitCode: number;
  readonly signal?: NodeJS.Signals;
  /** The signals that a cancellation has sent. */
  readonly signalsSent: readonly NodeJS.Signals[];
  readonly outputs: Texts;
  /** The state that main, and then post, have saved. */
  readonly state: Texts;
  /** The variables that this step wrote to `GITHUB_ENV`. */
  readonly env: Texts;
  /** The job summary as the step wrote it; empty if it was too large for the runner. */
  readonly summary: string;
  readonly annotations: readonly Annotation[];
  /** Debug lines, whether the log shows them or not. */
  readonly debug: readonly string[];
  /**
   * The log as displayed: commands executed, each line masked with the secrets known at that time. The first group of
   * the runner, with the inputs and variables, is omitted.
   */
  readonly log: string;
  /** Every line as the process wrote it, with stdout and stderr in the order of their arrival. */
  readonly written: readonly string[];
  readonly durationMs: number;
}

interface StageOptions extends Omit<StepProcessOptions, 'onLine'> {
  /** Whether the step runs in a process that is shared with other steps. */
  readonly inKeptProcess: boolean;
  readonly workspace: string;
  readonly files: CommandFiles;
  readonly masks: Masks;
  readonly debug: boolean;
  /** The warning of the runner before it starts the process. */
  readonly warning: string | undefined;
  /** The state, which main and post share and change. */
  readonly state: Map<string, string>;
  /** The timeout for a line that does not arrive. */
  readonly timeoutMs: number;
  readonly onShown?: ((line: string) => void) | undefined;
  readonly onFinished: (result: StepResult) => void;
}

export type RunningStep = ReturnType<typeof startStage>;

/** actions/runner, `FileCommandManager.cs`: a larger summary is rejected. */
const largestSummary = 1024 * 1024;

/** Starts a main or a post, and reads its files after it has ended in any way: the runner also accepts the data of a killed process. */
export function startStage(options: StageOptions) {
  const { workspace, files, masks, debug, warning, state } = options;
  const log = createStepLog({ masks, workspace, debug, onShown: options.onShown });
  if (warning !== undefined) log.say('warning', warning);
  const onWritten = new Set<() => void>();
  const startedAt = performance.now();
  let cancelled = false;
  const disconnected = Promise.withResolvers<ProcessEnd>();

  const onLine = (line: string): void => {
    log.take(line);
    for (const look of onWritten) look();
  };
  const start = (): StepProcess => {
    try {
      return (options.inKeptProcess ? startInKeptProcess : startStepProcess)({ ...options, onLine });
    } catch (error) {
      return { pid: 0, ended: Promise.reject(error), signalsSent: [], cancel: async () => {}, kill: () => {} };
    }
  };
  const child = start();

  /** Adds the pairs of a file of the step; false if the file has a mistake. */
  const readPairs = async (kind: 'env' | 'output' | 'state', into: Map<string, string>): Promise<boolean> => {
    try {
      for (const [name, value] of keyValuePairs(await files.read(kind))) into.set(name, value);
      return true;
    } catch (error) {
      log.say('error', `Unable to process file command '${kind}' successfully.`);
      log.say('error', error instanceof Error ? error.message : String(error));
      return false;
    }
  };

  const readSummary = async (): Promise<string> => {
    const summary = await files.read('step_summary');
    if (Buffer.byteLength(summary) <= largestSummary) return summary;
    log.say(
      'error',
      `$GITHUB_STEP_SUMMARY upload aborted, supports content up to a size of ${largestSummary / 1024}k.`,
    );
    return '';
  };

  const finish = async (): Promise<StepResult> => {
    const end: ProcessEnd = await Promise.race([child.ended, disconnected.promise]).catch((error: Error) => {
      // Such as an environment that is too large: the runner reports it and continues with the post-steps.
      log.say('error', error.message);
      return { code: -1 };
    });
    if (cancelled) log.say('error', 'The operation was canceled.');
    const [env, outputs] = [new Map<string, string>(), new Map<string, string>()];
    const isRead = [await readPairs('env', env), await readPairs('state', state), await readPairs('output', outputs)];
    const summary = await readSummary();
    const succeeded = end.code === 0 && !isRead.includes(false) && !log.failed();
    const result: StepResult = {
      conclusion: cancelled ? 'cancelled' : succeeded ? 'success' : 'failure',
      exitCode: end.code,
      ...(end.signal !== undefined && { signal: end.signal }),
      signalsSent: child.signalsSent,
      outputs: Object.fromEntries(outputs),
      state: Object.fromEntries(state),
      env: Object.fromEntries(env),
      summary,
      ...{ annotations: log.annotations, debug: log.debug },
      ...{ log: log.shown.join('\n'), written: log.written, durationMs: performance.now() - startedAt },
    };
    options.onFinished(result);
    return result;
  };
  const finished = finish();

  return {
    pid: child.pid,
    finished,
    /** The first matching line, as the process wrote it; rejects if the step ends without one. */
    async waitForLog(matcher: RegExp | string): Promise<string> {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const look = (): void => {
        const line = log.written.find((text) =>
          typeof matcher === 'string' ? text.includes(matcher) : text.search(matcher) >= 0,
        );
        if (line !== undefined) resolve(line);
      };
      const fail = (how: string) => reject(new Error(`${how} ${String(matcher)}. Its log:\n${log.shown.join('\n')}`));
      const timer = setTimeout(() => fail('The step has not written yet:'), options.timeoutMs);
      onWritten.add(look);
      look();
      finished.then(() => fail('The step ended without writing:'), reject);
      return promise.finally(() => {
        clearTimeout(timer);
        onWritten.delete(look);
      });
    },
    /** Cancels the step, like a canceled workflow or a step over its `timeout-minutes`. */
    async cancel(): Promise<StepResult> {
      // The runner calls a step canceled even if it then ends by itself and succeeds.
      cancelled = true;
      await child.cancel();
      return finished;
    },
    /** Sends SIGKILL at once. */
    async kill(): Promise<StepResult> {
      child.kill();
      return finished;
    },
    /**
     * Cancels the step as the runner does in a container: it signals only its own client, and the step lives on without
     * its output. actions/runner, `StepHost.cs`, `ContainerStepHost`.
     */
    disconnect(): Promise<StepResult> {
      cancelled = true;
      // 128 plus the number of SIGINT, which ended the client.
      disconnected.resolve({ code: 130 });
      return finished;
    },
  };
}
