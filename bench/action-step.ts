import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { preload } from '../test/support/preload.ts';
import { type Job, type JobOptions, openJob } from '../test/support/runner/job.ts';
import type { StepResult } from '../test/support/runner/step.ts';
import type { Bench } from './benchmark.ts';
import { sumOf } from './statistics.ts';

export type Inputs = Readonly<Record<string, string>>;

type Ends = Pick<Bench, 'atEnd'>;

/** What one process has used. */
interface Used {
  /** The file that Node was started with. */
  readonly entry: string;
  /** When it sent each of its requests. */
  readonly sent: readonly number[];
  readonly connections: number;
  readonly peakBytes: number;
}

/**
 * Tells at the end of a process: Node publishes each request and each connection of its own modules. What getrusage() calls
 * the peak of a process is on Linux also that of its parent, before it became another program. The process that renews
 * has no variables but those of Node, so the file is named here.
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

/** Short, because Linux takes no variable of more than 128 KB, and the paths of a step are in one. */
export const pathsOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, number) => `Content/Maps/L${String(number).padStart(4, '0')}.umap`);

/** A job on a runner, until the end of the benchmark at the latest. */
export async function startJob({ atEnd }: Ends, options: JobOptions = {}): Promise<Job> {
  const job = await openJob(options);
  atEnd(job.end);
  return job;
}

function succeeded(step: StepResult): StepResult {
  if (step.conclusion !== 'success') throw new Error(`A step has failed:\n${step.log}`);
  return step;
}

export interface StepOptions {
  /** To count takes time: how long they take is measured without it. */
  readonly isCounted?: boolean;
  /** What the job does between the two. */
  readonly work?: () => Promise<unknown>;
}

/** Runs a step of the action from dist/, and its post-step where the step has saved something for one. */
export async function runStep(inputs: Inputs, ends: Ends, { isCounted, work }: StepOptions = {}) {
  const job = await startJob(ends, { secrets: [inputs['token'] ?? ''] });
  const file = join(job.folders.temp, 'usage');
  const env: Inputs = isCounted ? { NODE_OPTIONS: countingUsage(file) } : {};
  const step = succeeded(await job.run({ with: inputs, env }));
  await work?.();
  const posts = Object.keys(step.state).length === 0 ? [] : (await job.post()).map(succeeded);
  const lines = isCounted ? (await readFile(file, 'utf8')).trim().split('\n') : [];
  await job.end();
  // The module above has written them.
  const used = lines.map((line) => JSON.parse(line) as Used);
  return {
    /** Of the step alone, and with its post-step. */
    stepMs: step.durationMs,
    ms: sumOf([step, ...posts].map(({ durationMs }) => durationMs)),
    used,
    requests: sumOf(used.map(({ sent }) => sent.length)),
    connections: sumOf(used.map((one) => one.connections)),
    /** Of the process that held more memory, at its peak. */
    peakBytes: Math.max(0, ...used.map((one) => one.peakBytes)),
  };
}
