import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inputVariable, readActionFile, resolveInputs, type StepInputs } from './action-file.ts';
import { createCommandFiles } from './file-commands.ts';
import { contextVariables, type JobEvent, type JobFolders, pushEvent, type Run, someRun } from './github-context.ts';
import { describeProcess, endProcesses, leftProcesses } from './left-processes.ts';
import { type RunningStep, type StepResult, startStage } from './step.ts';
import { createMasks } from './step-log.ts';
import type { Command } from './step-process.ts';

export type Variables = Readonly<Record<string, string>>;

export interface JobOptions {
  /** Further variables of the runner's own environment, such as a proxy, and `env:` of the job. */
  readonly env?: Variables;
  /** `env:` of the job, if it depends on the variables of the runner. */
  readonly jobEnv?: (variables: Variables) => Variables;
  readonly event?: JobEvent;
  readonly run?: Partial<Run>;
  /** Whether debug logging is on, as with the secret ACTIONS_STEP_DEBUG. */
  readonly debug?: boolean;
  /** Secrets that the workflow uses, which the runner masks from the start; `github.token` is always included. */
  readonly secrets?: readonly string[];
  /** How many times longer the runner waits between the signals of a cancellation; default: 1. */
  readonly patience?: number;
  /** Whether its steps may share processes, which makes short tests much faster. Steps of other entries never do. */
  readonly sharesProcesses?: boolean;
  /** The timeout of `waitForLog`. */
  readonly timeoutMs?: number;
  /** The parent of the folders of the job; default: the system's folder for temporary files. */
  readonly parentFolder?: string;
  /** Receives each line of the displayed log immediately. */
  readonly onShown?: (line: string) => void;
}

export interface StepOptions {
  readonly with?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** `GITHUB_ACTION`. The steps of a composite action that is used twice share it. */
  readonly id?: string;
  /** Different entry files from those of the action; null for an action without a post. */
  readonly main?: string;
  readonly post?: string | null;
  /** Runs alongside the following steps, as with `background: true`. */
  readonly background?: boolean;
  /** Runs below a process of its own, which stands for the worker of the runner: it ends with the step, or stays. */
  readonly worker?: 'ends' | 'stays';
}

/** A step that starts a program itself, as `run:` does. */
interface CommandStep {
  readonly command: Command;
  /** Default: the workspace. */
  readonly workingFolder?: string;
  readonly env?: Variables;
  readonly id: string;
}

/** One step after the other, but for those in the background, then the post-steps in reverse order. */
export type Job = Awaited<ReturnType<typeof openJob>>;

interface Stage {
  readonly command: Command;
  readonly inKeptProcess: boolean;
  readonly workingFolder: string;
  readonly inputs: StepInputs;
  readonly env: Variables;
  readonly action: string;
  readonly state: Map<string, string>;
  readonly background: boolean;
}

/** Starts the step. Killed, it leaves the step without its parent. */
const workerScript = `
const child = require('node:child_process').spawn(process.execPath, [process.argv[1]], { stdio: 'inherit' });
if (process.argv[2] === 'ends') child.once('exit', (code) => process.exit(code ?? 1));
else setInterval(() => {}, 1_000);
`;

const noInputs: StepInputs = { values: new Map(), warning: undefined };

/** `github.token` */
export const someToken = `ghs_${'0'.repeat(36)}`;

async function createFolders(parent: string): Promise<{ readonly root: string; readonly folders: JobFolders }> {
  // A process sees the real path of its working directory, so the variables must have it, too.
  const root = await realpath(await mkdtemp(join(parent, 'runner-')));
  const folders: JobFolders = {
    workspace: join(root, 'work', 'dragon', 'dragon'),
    temp: join(root, 'work', '_temp'),
    home: join(root, 'home'),
  };
  for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true });
  return { root, folders };
}

/** actions/runner, `ExecutionContext.cs`, `WriteWebhookPayload`. */
async function writeEvent(temp: string, payload: object): Promise<string> {
  const folder = join(temp, '_github_workflow');
  const path = join(folder, 'event.json');
  await mkdir(folder);
  await writeFile(path, JSON.stringify(payload, null, 2));
  return path;
}

/** A job that the caller must end. */
export async function openJob(options: JobOptions = {}) {
  const { event = pushEvent(), debug = false, secrets = [] } = options;
  const file = await readActionFile();
  const run: Run = { ...someRun, ...options.run };
  const { root, folders } = await createFolders(options.parentFolder ?? tmpdir());
  const eventPath = await writeEvent(folders.temp, event.payload);
  const masks = createMasks([...secrets, someToken]);
  const trackingId = `github_${crypto.randomUUID()}`;
  const exported = new Map<string, string>();
  const posts: Stage[] = [];
  const results: StepResult[] = [];
  let started = 0;
  let busy = false;
  const running = new Set<RunningStep>();
  let renews = false;
  let leavesMain = false;

  const refuseWhileBusy = (): void => {
    if (busy) throw new Error('A job runs one step at a time, and one still runs.');
  };

  const variables = (action: string): Variables => contextVariables({ run, event, eventPath, folders, action, debug });
  const runner = {
    PATH: process.env['PATH'] ?? '',
    HOME: folders.home,
    RUNNER_TRACKING_ID: trackingId,
    ...options.env,
    ...options.jobEnv?.(variables('')),
  };

  const start = async ({ inputs, env: stepEnv, background, ...stage }: Stage): Promise<RunningStep> => {
    busy ||= !background;
    const files = await createCommandFiles(folders.temp);
    const started = startStage({
      ...stage,
      // In the order of actions/runner: `ActionRunner.cs`, then `Handler.cs`, `NodeScriptActionHandler.cs` and
      // `ProcessInvoker.cs`.
      environment: {
        CI: 'true',
        ...runner,
        ...Object.fromEntries(exported),
        ...stepEnv,
        ...Object.fromEntries([...stage.state].map(([name, value]) => [`STATE_${name}`, value])),
        ...Object.fromEntries([...inputs.values].map(([name, value]) => [inputVariable(name), value])),
        ...variables(stage.action),
        ...files.variables,
        GITHUB_ACTIONS: 'true',
      },
      workspace: folders.workspace,
      ...{ files, masks, debug, patience: options.patience ?? 1, warning: inputs.warning },
      timeoutMs: options.timeoutMs ?? 60_000,
      onShown: options.onShown,
      onFinished(result) {
        leavesMain ||= result.conclusion === 'cancelled' && result.exitCode === 130;
        if (!background) busy = false;
        running.delete(started);
        results.push(result);
        for (const [name, value] of Object.entries(result.env)) exported.set(name, value);
      },
    });
    running.add(started);
    return started;
  };

  const job = {
    folders,
    /** The variables that the steps have written to `GITHUB_ENV` so far. */
    exported,
    /** `GITHUB_*` and `RUNNER_*` for a step with this `GITHUB_ACTION`, without its command files. */
    variables,
    /** The text as the log would display it now. */
    mask: (text: string): string => masks.apply(text),
    /** Starts a step. Its post is registered before its main starts, so it runs however the main ends. */
    async step(step: StepOptions = {}): Promise<RunningStep> {
      refuseWhileBusy();
      started += 1;
      const action =
        step.id ?? (started === 1 ? '__octo-org_workspace-automation' : `__octo-org_workspace-automation_${started}`);
      const { main = file.main, post = file.post, env: stepEnv = {}, background = false, worker } = step;
      const inputs = resolveInputs(file, step.with ?? {}, someToken);
      const state = new Map<string, string>();
      const stage = (entry: string): Stage => ({
        command: [process.execPath, entry],
        inKeptProcess:
          options.sharesProcesses === true && !background && !worker && [file.main, file.post].includes(entry),
        workingFolder: folders.workspace,
        ...{ inputs, env: stepEnv, action, state, background: false },
      });
      leavesMain ||= worker !== undefined;
      renews ||= inputs.values.get('renew') === 'true';
      if (typeof post === 'string') posts.push(stage(post));
      const below = worker && ([process.execPath, '-e', workerScript, main, worker] as const);
      return start({ ...stage(main), ...(below && { command: below }), background });
    },
    /** Starts a step that is not an action. */
    async command({ command, workingFolder = folders.workspace, env = {}, id }: CommandStep): Promise<RunningStep> {
      refuseWhileBusy();
      return start({
        ...{ command, inKeptProcess: false, workingFolder },
        ...{ inputs: noInputs, env, action: id, state: new Map<string, string>(), background: false },
      });
    },
    /** Runs a step to its end. */
    async run(step?: StepOptions): Promise<StepResult> {
      return (await job.step(step)).finished;
    },
    /** Starts the post of the last step that still has one; undefined if there is none. */
    async nextPost(): Promise<RunningStep | undefined> {
      refuseWhileBusy();
      const post = posts.pop();
      return post && start(post);
    },
    /** The running processes that its steps have started; empty if the system does not report them. */
    leftProcesses: () => leftProcesses(trackingId),
    /** Runs all posts, starting with that of the last step. */
    async post(): Promise<readonly StepResult[]> {
      const finished: StepResult[] = [];
      for (let next = await job.nextPost(); next !== undefined; next = await job.nextPost()) {
        finished.push(await next.finished);
      }
      return finished;
    },
    /** Ends all processes and removes the folders without running any post, as if the machine were gone. */
    async end(): Promise<void> {
      for (const step of running) await step.kill();
      // The search is slow, and few kinds of steps leave processes behind.
      const mayLeave = renews || leavesMain || results.some(({ state }) => 'renewer' in state);
      const find = () => (mayLeave ? leftProcesses(trackingId) : []);
      let left = find();
      // A process that has its last request may still be ending.
      for (const until = performance.now() + 10_000; left.length > 0 && posts.length === 0; left = find()) {
        if (performance.now() > until) break;
        await sleep(20);
      }
      const described = left.map(describeProcess).join(', ');
      endProcesses(left);
      await rm(root, { recursive: true, force: true, maxRetries: 3 });
      // Without a post-step, the machine is gone, and all its processes with it.
      if (left.length > 0 && posts.length === 0) throw new Error(`The job has left processes behind: ${described}.`);
    },
  };
  return job;
}
