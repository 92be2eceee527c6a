import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { preload } from '../test/support/preload.ts';
import { openJob } from '../test/support/runner/job.ts';
import type { StepResult } from '../test/support/runner/step.ts';
import type { ServiceProcess } from '../test/support/service-process.ts';
import { atMost, type Benchmark, exactly, figure, type Limit } from './benchmark.ts';
import { openStorage } from './service/seed.ts';
import { type RunningService, startService } from './service/service-process.ts';
import { sumOf } from './statistics.ts';

const full = { jobs: 8, pathsEach: 3_000 };
const small = { jobs: 2, pathsEach: 30 };

const timeWhy = 'a lock step without `wait` times out after two minutes: with its post-step, it must fit into that';
const nothingLeft: Limit = exactly(0, 'a lock taken by a job is never leaked');
const notMet: Limit = exactly(0, 'design §1: eight jobs of 3,000 paths with one token stay below its rate limit');
const allEndWell: Limit = exactly(0, 'they lock different paths, and cannot conflict');

/** Reads the database directly, because the service may reject the request. */
async function countLocks(service: RunningService): Promise<number> {
  const { read, close } = await openStorage(service);
  const left = read.selectFrom('locks').select('id').where('expires_at', '>', Date.now()).execute();
  return (await left.finally(close)).length;
}

/** A post-step that could not release a lock also succeeds, with a warning. */
const endsWell = ({ lock, posts }: EndedJob): boolean =>
  lock.conclusion === 'success' &&
  posts.every(({ conclusion, annotations }) => conclusion === 'success' && annotations.length === 0);

export const jobs: Benchmark = {
  name: 'jobs',
  what: 'Concurrent jobs that share one token, on the service with default settings: each locks its own paths and ends.',
  async measure(bench) {
    const plan = bench.quick ? small : full;
    const service = await startService(bench);
    const what = `${plan.jobs} jobs × ${plan.pathsEach.toLocaleString('en-US')} paths, one token`;
    bench.progress(what);
    const ended = await jobsTogether({ ...service, ...plan, signal: bench.signal });
    const seconds = ended.map(({ tookMs }) => tookMs / 1_000);
    const refusals = sumOf(ended.map((job) => job.refusals));
    return [
      figure(`${what}: the slowest job`, 's', Math.max(...seconds), {
        limit: atMost(120, timeWhy),
      }),
      figure(
        `${what}: jobs that did not get their locks, or whose post-step failed or warned`,
        '',
        ended.filter((job) => !endsWell(job)).length,
        { limit: allEndWell },
      ),
      figure(`${what}: locks left behind`, '', await countLocks(service), { limit: nothingLeft }),
      figure(`${what}: requests refused with 429`, '', refusals, { limit: notMet }),
    ];
  },
};

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

interface EndedJob {
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
      NODE_OPTIONS: `${nodeOptions} ${notingRefusals(refusalsFile)}`.trim(),
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
const jobsTogether = (options: JobsTogether): Promise<readonly EndedJob[]> =>
  Promise.all(Array.from({ length: options.jobs }, (_, number) => runJob(options, number)));

/** Appends a byte to the file named by the variable for each response with status 429. */
const notingRefusals = (variable: string): string =>
  preload(`
    import { appendFileSync } from 'node:fs';
    import { subscribe } from 'node:diagnostics_channel';
    subscribe('http.client.response.finish', ({ response }) => {
      if (response.statusCode === 429) appendFileSync(process.env.${variable}, '.');
    });
  `);
