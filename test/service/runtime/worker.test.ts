import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { startWorker, type Worker } from '../../../src/service/runtime/worker.ts';
import { runs } from '../../support/runs.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** So seldom that only a wake-up makes the worker look. */
const never = 2 ** 30;

/** Only ends a wait that would have no end. */
const patient = { timeout: 30_000 };

/** Jobs in a place that answers late, as a database does: what it answers may be out of date by then. */
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

/** Answers a question each time, in turn and from the beginning again. */
const inTurn = (answers: readonly boolean[]): (() => boolean) => {
  let asked = 0;
  return () => {
    const answer = answers[asked % answers.length] ?? false;
    asked += 1;
    return answer;
  };
};

const answers = fc.array(fc.boolean(), { minLength: 1, maxLength: 8 });

test('every job that a wake-up follows is done once, and never more than allowed at the same time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 8 }),
      answers,
      async (scheduler, parallel, arrivals, early) => {
        const { jobs, claim } = queueOf(scheduler, inTurn(early));
        const done: number[] = [];
        let added = 0;
        let running = 0;
        let most = 0;
        const worker = startWorker<number>({
          parallel,
          pollMs: never,
          claim,
          async run(job) {
            running += 1;
            most = Math.max(most, running);
            await scheduler.schedule(Promise.resolve(), `run ${job}`);
            running -= 1;
            done.push(job);
          },
          onError: (error) => {
            throw error;
          },
        });
        for (const count of arrivals) {
          void scheduler.schedule(Promise.resolve(), `${count} jobs`).then(() => {
            for (let job = 0; job < count; job += 1) {
              jobs.push(added);
              added += 1;
            }
            worker.wake();
          });
        }
        await scheduler.waitIdle();
        expect(done.toSorted((a, b) => a - b)).toEqual(Array.from({ length: added }, (_, job) => job));
        expect(most).toBeLessThanOrEqual(parallel);
        await worker.stop();
      },
    ),
    { numRuns: runs(100, 1_000) },
  );
});

test('it does as many jobs at the same time as it may, and takes the next one when one ends', async () => {
  const jobs = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const waiting = [...jobs.keys()];
  const begun: number[] = [];
  const worker = startWorker<number>({
    parallel: 3,
    pollMs: never,
    claim: async () => waiting.shift(),
    async run(job) {
      begun.push(job);
      await jobs[job]?.promise;
    },
    onError: (error) => {
      throw error;
    },
  });
  await vi.waitUntil(() => begun.length === 3, patient);
  expect(waiting).toEqual([3, 4]);
  jobs[1]?.resolve();
  await vi.waitUntil(() => begun.length === 4, patient);
  expect([begun, waiting]).toEqual([[0, 1, 2, 3], [4]]);
  for (const { resolve } of jobs) resolve();
  await vi.waitUntil(() => begun.length === 5, patient);
  await worker.stop();
});

test('errors of a claim or of a job are told, and the work goes on at the next wake-up', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 1, max: 3 }),
      answers,
      answers,
      async (scheduler, parallel, failingClaims, failingRuns) => {
        const { jobs, claim } = queueOf(scheduler, () => false);
        jobs.push(...Array.from({ length: 10 }, (_, job) => job));
        const [claimFails, runFails] = [inTurn(failingClaims), inTurn(failingRuns)];
        const begun: number[] = [];
        const errors: unknown[] = [];
        let thrown = 0;
        const failIf = (fails: boolean): void => {
          if (!fails) return;
          thrown += 1;
          throw new Error('This had to fail.');
        };
        const worker = startWorker<number>({
          parallel,
          pollMs: never,
          async claim() {
            failIf(claimFails());
            return claim();
          },
          async run(job) {
            begun.push(job);
            failIf(runFails());
            await scheduler.schedule(Promise.resolve(), `run ${job}`);
            failIf(runFails());
          },
          onError: (error) => errors.push(error),
        });
        // Each wake-up gets at least to the next failing claim; what is done when all of them fail is nothing.
        for (let wakeUp = 0; wakeUp < 100; wakeUp += 1) {
          await scheduler.waitIdle();
          worker.wake();
        }
        await scheduler.waitIdle();
        const canClaim = failingClaims.includes(false);
        expect(begun).toEqual(canClaim ? Array.from({ length: 10 }, (_, job) => job) : []);
        expect(errors).toHaveLength(thrown);
        await worker.stop();
      },
    ),
    { numRuns: runs(40, 500) },
  );
});

test('a stop interrupts what runs, waits for it, and begins nothing that is left', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 0, max: 6 }),
      answers,
      async (scheduler, parallel, stepsBefore, early) => {
        const { jobs, claim } = queueOf(scheduler, inTurn(early));
        jobs.push(...Array.from({ length: 20 }, (_, job) => job));
        let running = 0;
        let interrupted = 0;
        let begun = 0;
        const worker: Worker = startWorker<number>({
          parallel,
          pollMs: never,
          claim,
          async run(job, signal) {
            begun += 1;
            running += 1;
            const end = scheduler.schedule(Promise.resolve(), `run ${job}`);
            const aborted = new Promise<void>((resolve) => {
              if (signal.aborted) resolve();
              signal.addEventListener('abort', () => resolve(), { once: true });
            });
            await Promise.race([end, aborted]);
            if (signal.aborted) interrupted += 1;
            // Putting away what was begun takes a moment as well.
            await scheduler.schedule(Promise.resolve(), `clean up ${job}`);
            running -= 1;
          },
          onError: (error) => {
            throw error;
          },
        });
        for (let step = 0; step < stepsBefore && scheduler.count() > 0; step += 1) await scheduler.waitOne();
        const begunBefore = begun;
        const runningBefore = running;
        let stopped = false;
        const stop = worker.stop().then(() => {
          expect(running).toBe(0);
          stopped = true;
        });
        worker.wake();
        await scheduler.waitIdle();
        await stop;
        expect(stopped).toBe(true);
        // A claim that was under way may still bring a job: it is interrupted at once, and so given back.
        expect(begun - begunBefore).toBeLessThanOrEqual(1);
        expect(interrupted).toBeGreaterThanOrEqual(begun - begunBefore);
        expect(interrupted).toBeLessThanOrEqual(runningBefore + 1);
        const after = begun;
        worker.wake();
        await scheduler.waitIdle();
        expect(begun).toBe(after);
      },
    ),
    { numRuns: runs(100, 1_000) },
  );
});

test('it looks by itself now and then, for what nobody woke it for', async () => {
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

test('a wake-up that comes during a claim that finds nothing makes it look again', async () => {
  const answersOfClaim = [Promise.withResolvers<string | undefined>(), Promise.withResolvers<string | undefined>()];
  const done = Promise.withResolvers<string>();
  let claims = 0;
  const worker = startWorker<string>({
    parallel: 1,
    pollMs: never,
    claim() {
      claims += 1;
      return answersOfClaim[claims - 1]?.promise ?? Promise.resolve(undefined);
    },
    run: async (job) => done.resolve(job),
    onError: done.reject,
  });
  worker.wake();
  answersOfClaim[0]?.resolve(undefined);
  answersOfClaim[1]?.resolve('late');
  expect(await done.promise).toBe('late');
  await worker.stop();
});
