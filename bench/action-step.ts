import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { preload } from '../test/support/preload.ts';
import { type Job, type JobOptions, openJob } from '../test/support/runner/job.ts';
import type { Ends } from './process.ts';

export type Inputs = Readonly<Record<string, string>>;

/** What a step and its post-step use. */
export interface Usage {
  readonly requests: number;
  readonly connections: number;
  /** Of the process that held more memory, at its peak. */
  readonly peakBytes: number;
}

/**
 * Tells at the end of a process: Node publishes each request and each connection of its own modules. What getrusage() calls
 * the peak of a process is on Linux also that of its parent, before it became another program.
 */
const countingUsage = preload(`
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
`);

/** A job on a runner, until the end of the benchmark at the latest. */
export async function startJob({ atEnd }: Ends, options: JobOptions = {}): Promise<Job> {
  const job = await openJob(options);
  atEnd(job.end);
  return job;
}

/**
 * Runs a step of the action from dist/, and its post-step where the step has saved something for one. How long both took
 * is measured without what counts, for that takes time too.
 */
export async function runStep(inputs: Inputs, ends: Ends, { isCounted = false } = {}) {
  const job = await startJob(ends, { secrets: [inputs['token'] ?? ''] });
  const file = join(job.folders.temp, 'usage');
  const env: Inputs = isCounted ? { NODE_OPTIONS: countingUsage, BENCH_USAGE: file } : {};
  const step = await job.run({ with: inputs, env });
  const all = [step, ...(Object.keys(step.state).length === 0 ? [] : await job.post())];
  const failed = all.find(({ conclusion }) => conclusion !== 'success');
  if (failed !== undefined) throw new Error(`A step has failed:\n${failed.log}`);
  const lines = isCounted ? (await readFile(file, 'utf8')).trim().split('\n') : [];
  await job.end();
  // The module above has written them.
  const used = lines.map((line) => JSON.parse(line) as Usage);
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
  const usage: Usage = {
    requests: sum(used.map(({ requests }) => requests)),
    connections: sum(used.map(({ connections }) => connections)),
    peakBytes: Math.max(0, ...used.map(({ peakBytes }) => peakBytes)),
  };
  return { ms: sum(all.map(({ durationMs }) => durationMs)), usage };
}
