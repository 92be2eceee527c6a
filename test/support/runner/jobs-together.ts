import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { notingAnswers } from '../preload.ts';
import type { ServiceProcess } from '../service-process.ts';
import { openJob } from './job.ts';
import type { StepResult } from './step.ts';

/** Jobs that run at the same time and share one token. */
interface JobsTogether extends Pick<ServiceProcess, 'baseUrl' | 'token' | 'workspace'> {
  readonly jobs: number;
  /** The number of distinct paths that each job locks in one step. */
  readonly pathsEach: number;
  /** Further inputs of the lock steps. */
  readonly given?: Readonly<Record<string, string>>;
  /** NODE_OPTIONS for every process. */
  readonly nodeOptions?: string;
  /** Ends the jobs as if their machines were gone. */
  readonly signal?: AbortSignal;
}

export interface EndedJob {
  readonly lock: StepResult;
  readonly posts: readonly StepResult[];
  /** The time from the start of its first process to the end of its last one. */
  readonly tookMs: number;
  /** The number of 429 responses to its processes. */
  readonly refusals: number;
}

const refusalsFile = 'REFUSALS_FILE';

/** Short paths: Linux limits a variable to 128 KB, and one variable has all paths of a step. */
const pathsOf = (job: number, count: number): string =>
  Array.from({ length: count }, (_, number) => `Content/Job${job}/L${number}.umap`).join('\n');

async function runJob(
  { baseUrl, token, workspace, pathsEach, given, nodeOptions = '', signal }: JobsTogether,
  number: number,
): Promise<EndedJob> {
  const job = await openJob({ run: { runId: String(7_000 + number) }, secrets: [token] });
  const end = (): void => void job.end();
  signal?.addEventListener('abort', end);
  try {
    const file = join(job.folders.temp, 'refusals');
    const env = {
      WORKSPACE_BASE_URL: baseUrl,
      WORKSPACE_TOKEN: token,
      WORKSPACE_ID: workspace,
      NODE_OPTIONS: `${nodeOptions} ${notingAnswers(429, refusalsFile)}`.trim(),
      [refusalsFile]: file,
    };
    const began = performance.now();
    const paths = pathsOf(number, pathsEach);
    const lock = await job.run({ with: { operation: 'lock', glob: 'false', path: paths, ...given }, env });
    const posts = await job.post();
    const tookMs = performance.now() - began;
    const refusals = await stat(file).then(
      ({ size }) => size,
      () => 0,
    );
    return { lock, posts, tookMs, refusals };
  } finally {
    signal?.removeEventListener('abort', end);
    await job.end();
  }
}

/** Runs all jobs to their ends, whatever their results. */
export const jobsTogether = (options: JobsTogether): Promise<readonly EndedJob[]> =>
  Promise.all(Array.from({ length: options.jobs }, (_, number) => runJob(options, number)));
