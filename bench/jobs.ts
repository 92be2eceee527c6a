import { type EndedJob, jobsTogether } from '../test/support/runner/jobs-together.ts';
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
      figure(`${what}: the slowest job, from its lock step to the end of its post-step`, 's', Math.max(...seconds), {
        limit: atMost(120, timeWhy),
        shown: true,
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
