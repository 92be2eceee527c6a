import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readActionFile, resolveInputs } from '../test/support/runner/action-file.ts';
import { createCommandFiles, keyValuePairs } from '../test/support/runner/file-commands.ts';
import { contextVariables, pushEvent, someRun } from '../test/support/runner/github-context.ts';
import { environmentOf } from '../test/support/runner/step-environment.ts';
import type { Bench } from './benchmark.ts';
import { run } from './process.ts';

/** The action as a runner starts it, from dist/. */

const dist = join(import.meta.dirname, '../dist');
export const mainModule = join(dist, 'index.js');
export const postModule = join(dist, 'post/index.js');

export type Inputs = Readonly<Record<string, string>>;

export interface Steps {
  /** All variables that a step with these inputs has on a runner. */
  environment(inputs: Inputs): NodeJS.ProcessEnv;
  end(): Promise<void>;
}

/** Steps of one job in a folder of its own. */
export async function openSteps(): Promise<Steps> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const actionFile = await readActionFile();
  const files = await createCommandFiles(folder);
  const context = contextVariables({
    run: someRun,
    event: pushEvent(),
    eventPath: join(folder, 'event.json'),
    folders: { workspace: folder, temp: folder, tools: folder, home: folder },
    action: 'bench',
    debug: false,
  });
  return {
    environment: (inputs) =>
      environmentOf({
        runner: { PATH: process.env['PATH'] ?? '', HOME: folder },
        exported: new Map(),
        step: {},
        state: new Map(),
        inputs: resolveInputs(actionFile, inputs, { 'github.token': 'ghs_bench' }).values,
        prependedPaths: [],
        context: { ...context, ...files.variables },
      }),
    end: () => rm(folder, { recursive: true, force: true }),
  };
}

/** What a step and its post-step use. */
export interface Usage {
  readonly requests: number;
  readonly connections: number;
  /** Of the process that held more memory, at its peak. */
  readonly peakBytes: number;
}

/**
 * Loaded into the action, and tells at its end: Node publishes each request and each connection of its own modules. What
 * getrusage() calls the peak of a process is on Linux also that of its parent, before it became another program.
 */
const countUsage = `
  import { appendFileSync, readFileSync } from 'node:fs';
  import { subscribe } from 'node:diagnostics_channel';
  const usage = { requests: 0, connections: 0 };
  subscribe('http.client.request.start', () => { usage.requests += 1; });
  subscribe('net.client.socket', () => { usage.connections += 1; });
  process.on('exit', () => {
    const kilobytes = process.platform === 'linux'
      ? Number(/^VmHWM:\\s+(\\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1])
      : process.resourceUsage().maxRSS;
    appendFileSync(process.env.BENCH_USAGE, JSON.stringify({ ...usage, peakBytes: kilobytes * 1024 }) + '\\n');
  });
`;

interface Measured {
  /** Of the step, and of its post-step at the end of the job. */
  readonly ms: number;
  /** Nothing, unless it was counted: that takes time. */
  readonly usage: Usage;
}

/** Runs a step of the action, and its post-step where the step has saved something for one. */
export async function runStep(
  inputs: Inputs,
  { signal }: Pick<Bench, 'signal'>,
  { isCounted = false } = {},
): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-step-'));
  const usageFile = join(folder, 'usage');
  const steps = await openSteps();
  try {
    const preload = `--import data:text/javascript,${encodeURIComponent(countUsage)}`;
    const env: NodeJS.ProcessEnv = {
      ...steps.environment(inputs),
      ...(isCounted && { NODE_OPTIONS: preload, BENCH_USAGE: usageFile }),
    };
    const step = await run(process.execPath, [mainModule], { env, signal });
    const saved = new Map(keyValuePairs(await readFile(env['GITHUB_STATE'] ?? '', 'utf8')));
    const state = Object.fromEntries([...saved].map(([name, value]) => [`STATE_${name}`, value]));
    const post =
      saved.size === 0 ? { ms: 0 } : await run(process.execPath, [postModule], { env: { ...env, ...state }, signal });
    const lines = isCounted ? (await readFile(usageFile, 'utf8')).trim().split('\n') : [];
    // The module above has written them.
    const used = lines.map((line) => JSON.parse(line) as Usage);
    const sum = (name: keyof Usage): number => used.reduce((total, one) => total + one[name], 0);
    const peakBytes = Math.max(0, ...used.map((one) => one.peakBytes));
    return {
      ms: step.ms + post.ms,
      usage: { requests: sum('requests'), connections: sum('connections'), peakBytes },
    };
  } finally {
    await steps.end();
    await rm(folder, { recursive: true });
  }
}
