import { describe, expect, test } from 'vitest';
import type { Job } from '../../support/runner/job.ts';
import type { StepResult } from '../../support/runner/step.ts';
import { runs } from '../../support/runs.ts';
import { locking, type Place, soak } from './place.ts';
import { useShippedService } from './shipped.ts';

const namesOf = (job: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `job-${job}/${String(index).padStart(5, '0')}.uasset`);

/** The end of a log, which is enough to explain errors with thousands of paths. */
const lastLines = ({ log }: StepResult): string => log.slice(-2_000);

interface Ended {
  readonly job: Job;
  readonly lock: StepResult;
  readonly post: StepResult | undefined;
}

/** Runs this number of jobs at once with one token; each locks its own paths, and ends. */
async function playJobs(
  place: Place,
  { jobs, paths, inputs = {} }: { jobs: number; paths: number; inputs?: object },
): Promise<readonly Ended[]> {
  return Promise.all(
    Array.from({ length: jobs }, async (_, number): Promise<Ended> => {
      const job = await place.job();
      const lock = await job.run(locking(namesOf(number, paths), { ...inputs }));
      const [post] = await job.post();
      return { job, lock, post };
    }),
  );
}

/** Expects that all jobs got their locks, and that none remain. */
async function expectAllServed(place: Place, ended: readonly Ended[], paths: number): Promise<void> {
  for (const { lock, post } of ended) {
    expect(lock, lastLines(lock)).toMatchObject({
      conclusion: 'success',
      outputs: { status: 'acquired', count: String(paths) },
    });
    expect(post, post && lastLines(post)).toMatchObject({ conclusion: 'success', annotations: [] });
  }
  expect(await place.locks()).toEqual([]);
}

describe('with a rate limit of five requests per second and token', () => {
  const shipped = useShippedService('--rate-limit', '5/s');
  // Enough paths to exceed the initial burst of a token.
  const beyond = runs(20, 300);
  const patient = { wait: '30m' };

  test.each(soak ? [1, 4] : [4])(
    '%i concurrent jobs with one token get all their locks, and leave none behind',
    {
      timeout: 600_000,
    },
    async (jobs) => {
      const place = await shipped.workspace({ ownToken: true });
      const paths = Math.ceil((300 + beyond) / jobs);
      const ended = await playJobs(place, { jobs, paths, inputs: soak ? patient : {} });
      await expectAllServed(place, ended, paths);
      for (const { lock } of ended) expect(lock.log).not.toContain('tried');
    },
  );

  test('a job that is killed while it waits for the rate limit leaves no locks behind', async () => {
    const place = await shipped.workspace({ ownToken: true });
    const job = await place.job();
    const step = await job.step(locking(namesOf(1, 600)));
    await expect
      .poll(async () => (await place.locks()).length, { interval: 250 })
      // The burst grants a minute of requests at once.
      .toBeGreaterThan(302);
    await step.kill();
    await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
    expect(await place.locks()).toEqual([]);
  });

  if (!soak) return;

  // The test takes two minutes, the time limit of a step without a wait.
  test('a job that cannot lock all paths in time due to the rate limit rolls back', {
    timeout: 400_000,
  }, async () => {
    const place = await shipped.workspace({ ownToken: true });
    const job = await place.job();
    const lock = await job.run(locking(namesOf(1, 2_000)));
    expect(lock, lastLines(lock)).toMatchObject({ conclusion: 'failure', outputs: { acquired: 'false' } });
    expect(lock.durationMs).toBeLessThan(200_000);
    await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
    expect(await place.locks()).toEqual([]);
  });
});
