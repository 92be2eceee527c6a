import { describe, expect, test } from 'vitest';
import { isLocking, isReleasing } from '../../support/fault-proxy.ts';
import { measured } from '../../support/measured.ts';
import type { Job } from '../../support/runner/job.ts';
import type { StepResult } from '../../support/runner/step.ts';
import { runs } from '../../support/runs.ts';
import { locking, type Place, soak } from './place.ts';
import { useShippedService } from './shipped.ts';

const namesOf = (job: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `job-${job}/${String(index).padStart(5, '0')}.uasset`);

/** The end of a log, which is enough to explain errors with thousands of paths. */
const lastLines = ({ log }: StepResult): string => log.slice(-2_000);

/** The text of status 429. The number itself may also be part of a time. */
const refused = /Too Many Requests/;

interface Ended {
  readonly job: Job;
  readonly lock: StepResult;
  readonly post: StepResult | undefined;
}

/** Runs this number of jobs at once with one token; each locks its own paths, and ends. */
async function playJobs(
  place: Place,
  { jobs, paths, inputs = {}, proxied = false }: { jobs: number; paths: number; inputs?: object; proxied?: boolean },
): Promise<readonly Ended[]> {
  return Promise.all(
    Array.from({ length: jobs }, async (_, number): Promise<Ended> => {
      const proxy = proxied ? await place.proxy() : undefined;
      let asked = 0;
      proxy?.meet((passing) => {
        asked += 1;
        if (isLocking(passing) && asked % 7 === 3) return { kind: 'done-then-cut' };
        return isReleasing(passing) && asked % 11 === 5 ? { kind: 'done-then-answer', status: 502 } : undefined;
      });
      const job = await place.job({ ...(proxy && { proxy }) });
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

describe('with the default settings of the service', () => {
  const shipped = useShippedService();
  const together = soak
    ? [
        [8, 3_000],
        [2, 3_000],
        [4, 1_800],
        [1, 9_000],
      ]
    : [[2, 1_200]];

  test.each(together)(
    '%i jobs that lock %i paths each with one token stay within the rate limit, and leave no locks behind',
    {
      timeout: 300_000,
    },
    async (jobs = 1, paths = 1) => {
      const place = await shipped.workspace({ ownToken: true });
      const began = performance.now();
      const ended = await playJobs(place, { jobs, paths });
      const seconds = (performance.now() - began) / 1_000;
      await expectAllServed(place, ended, paths);
      for (const { lock, post } of ended) expect(`${lock.log}\n${post?.log}`).not.toMatch(refused);
      measured('concurrent jobs with many paths and one token took (s)', seconds, { atMost: 120 });
    },
  );
});

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
