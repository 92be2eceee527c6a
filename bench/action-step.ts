import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { preload } from '../test/support/preload.ts';
import { type Job, type JobOptions, openJob } from '../test/support/runner/job.ts';
import type { StepResult } from '../test/support/runner/step.ts';
import type { Bench } from './benchmark.ts';
import { sumOf } from './statistics.ts';

export type Inputs = Readonly<Record<string, string>>;

type Ends = Pick<Bench, 'atEnd'>;

/** The resource usage of one process. */
interface Used {
  /** The script that Node runs. */
  readonly entry: string;
  /** The start time of each request, in milliseconds since the epoch. */
  readonly sent: readonly number[];
  readonly connections: number;
  readonly peakBytes: number;
}

/**
 * Writes the usage of a process when it exits. Node publishes each request and each connection of its own modules. On
 * Linux the peak of getrusage() includes that of the parent process before exec, so VmHWM is read instead. The process
 * that renews locks gets only the environment variables of Node, so the file name is part of the source.
 */
const countingUsage = (file: string): string =>
  preload(`
  import { appendFileSync, readFileSync } from 'node:fs';
  import { subscribe } from 'node:diagnostics_channel';
  const used = { entry: process.argv[1], sent: [], connections: 0 };
  subscribe('http.client.request.start', () => { used.sent.push(Date.now()); });
  subscribe('net.client.socket', () => { used.connections += 1; });
  process.on('exit', () => {
    const kilobytes = process.platform === 'linux'
      ? Number(/^VmHWM:\\s+(\\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1])
      : process.resourceUsage().maxRSS;
    appendFileSync(${JSON.stringify(file)}, JSON.stringify({ ...used, peakBytes: kilobytes * 1024 }) + '\\n');
  });
`);

/** Short paths: all paths of a step are in one environment variable, which Linux limits to 128 KB. */
export const pathsOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, number) => `Content/Maps/L${String(number).padStart(4, '0')}.umap`);

/** Starts a job on a runner. It ends with the benchmark at the latest. */
export async function startJob({ atEnd }: Ends, options: JobOptions = {}): Promise<Job> {
  const job = await openJob(options);
  atEnd(job.end);
  return job;
}

function succeeded(step: StepResult): StepResult {
  if (step.conclusion !== 'success') throw new Error(`A step failed:\n${step.log}`);
  return step;
}

export interface StepOptions {
  /** Counts requests, connections and memory. That takes time, so durations are measured without it. */
  readonly isCounted?: boolean;
  /** The work of the job between the step and its post-step. */
  readonly work?: () => Promise<unknown>;
}

/** Runs a step of the action from dist/, and its post-step if the step saved state for it. */
export async function runStep(inputs: Inputs, ends: Ends, { isCounted, work }: StepOptions = {}) {
  const job = await startJob(ends, { secrets: [inputs['token'] ?? ''] });
  const file = join(job.folders.temp, 'usage');
  const env: Inputs = isCounted ? { NODE_OPTIONS: countingUsage(file) } : {};
  const step = succeeded(await job.run({ with: inputs, env }));
  await work?.();
  const posts = Object.keys(step.state).length === 0 ? [] : (await job.post()).map(succeeded);
  const lines = isCounted ? (await readFile(file, 'utf8')).trim().split('\n') : [];
  await job.end();
  // Written by the preloaded module above.
  const used = lines.map((line) => JSON.parse(line) as Used);
  return {
    /** Duration of the step alone; `ms` includes the post-step. */
    stepMs: step.durationMs,
    ms: sumOf([step, ...posts].map(({ durationMs }) => durationMs)),
    used,
    requests: sumOf(used.map(({ sent }) => sent.length)),
    connections: sumOf(used.map((one) => one.connections)),
    /** The highest peak of all processes of the step. */
    peakBytes: Math.max(0, ...used.map((one) => one.peakBytes)),
  };
}
