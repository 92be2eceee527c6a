import { once } from 'node:events';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { startWorker } from '../../../src/service/runtime/worker.ts';
import { runs } from '../../support/runs.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A poll interval so long that only a wake-up makes the worker look for jobs. */
const never = 2 ** 30;

/** A job queue that responds late, as a database does: the response may be outdated on arrival. */
function queueOf(scheduler: fc.Scheduler, takenEarly: () => boolean) {
  const jobs: number[] = [];
  return {
    jobs,
    async claim(): Promise<number | undefined> {
      const early = takenEarly();
      const taken = early ? jobs.shift() : undefined;
      await scheduler.schedule(Promise.resolve(), 'claim');
      return early ? taken : jobs.shift();
    },
  };
}

/** Returns the answers one after the other, and then starts over. */
const inTurn = (answers: readonly boolean[]): (() => boolean) => {
  let asked = 0;
  return () => {
    const response = answers[asked % answers.length] ?? false;
    asked += 1;
    return response;
  };
};

const answers = fc.array(fc.boolean(), { minLength: 1, maxLength: 8 });

/** Fails as often as the answers say, and counts the failures. */
function failing(answers: readonly boolean[]) {
  const fails = inTurn(answers);
  const counted = { failures: 0 };
  return {
    counted,
    maybe(): void {
      if (!fails()) return;
      counted.failures += 1;
      throw new Error('This had to fail.');
    },
  };
}

test('each job is run once after a wake-up, within the concurrency limit, and errors are reported', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 8 }),
      answers,
      fc.option(fc.tuple(answers, answers), { nil: [[false], [false]] }),
      async (scheduler, parallel, arrivals, early, [failingClaims, failingRuns]) => {
        const { jobs, claim } = queueOf(scheduler, inTurn(early));
        const [claims, ends] = [failing(failingClaims), failing(failingRuns)];
        const begun: number[] = [];
        const errors: unknown[] = [];
        let added = 0;
        let running = 0;
        let most = 0;
        const worker = startWorker<number>({
          parallel,
          pollMs: never,
          claim() {
            claims.maybe();
            return claim();
          },
          async run(job) {
            begun.push(job);
            running += 1;
            most = Math.max(most, running);
            await scheduler.schedule(Promise.resolve(), `run ${job}`);
            running -= 1;
            ends.maybe();
          },
          onError: (error) => errors.push(error),
        });
        for (const count of arrivals) {
          void scheduler.schedule(Promise.resolve(), `${count} jobs`).then(() => {
            for (let job = 0; job < count; job += 1) jobs.push(added++);
            worker.wake();
          });
        }
        await scheduler.waitIdle();
        // After a failed claim, the next wake-up gets further. If all claims fail, nothing is done.
        for (let wakeUp = 0; wakeUp < 300 && claims.counted.failures > 0 && jobs.length > 0; wakeUp += 1) {
          worker.wake();
          await scheduler.waitIdle();
        }
        const canClaim = failingClaims.includes(false);
        const all = Array.from({ length: canClaim ? added : 0 }, (_, job) => job);
        expect(begun.toSorted((one, other) => one - other)).toEqual(all);
        expect(most).toBeLessThanOrEqual(parallel);
        expect(errors).toHaveLength(claims.counted.failures + ends.counted.failures);
        await worker.stop();
      },
    ),
    { numRuns: runs(140, 1_500) },
  );
});

test('stopping interrupts the running jobs, waits for them, and starts none of the others', async () => {
  const jobs = [0, 1, 2, 3, 4];
  const begun: number[] = [];
  const interrupted: number[] = [];
  const cleanedUp = Promise.withResolvers<void>();
  const worker = startWorker<number>({
    parallel: 2,
    pollMs: never,
    claim: async () => jobs.shift(),
    async run(job, signal) {
      begun.push(job);
      await once(signal, 'abort');
      interrupted.push(job);
      await cleanedUp.promise;
    },
    onError: (error) => expect.fail(String(error)),
  });
  await expect.poll(() => begun).toEqual([0, 1]);
  const stopped = vi.fn();
  const stopping = worker.stop().then(stopped);
  await expect.poll(() => interrupted).toEqual([0, 1]);
  worker.wake();
  expect(stopped).not.toHaveBeenCalled();
  cleanedUp.resolve();
  await stopping;
  expect([begun, jobs]).toEqual([
    [0, 1],
    [2, 3, 4],
  ]);
});

test('the worker polls for jobs that nobody woke it for', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const jobs: string[] = [];
  const found = Promise.withResolvers<string>();
  const worker = startWorker<string>({
    parallel: 1,
    pollMs: 500,
    claim: async () => jobs.shift(),
    run: async (job) => found.resolve(job),
    onError: found.reject,
  });
  await vi.advanceTimersByTimeAsync(0);
  jobs.push('of another instance');
  await vi.advanceTimersByTimeAsync(499);
  expect(jobs).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(await found.promise).toBe('of another instance');
  await worker.stop();
  expect(vi.getTimerCount()).toBe(0);
});
