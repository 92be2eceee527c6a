import { once } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { startWorker } from '../../../src/service/runtime/worker.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A poll interval so long that only a wake-up makes the worker look for jobs. */
const never = 2 ** 30;

test('each job is run once within the concurrency limit, and failed claims and runs are reported', async () => {
  const jobs = Array.from({ length: 10 }, (_, job) => job);
  const begun: number[] = [];
  const errors: unknown[] = [];
  let [claims, running, most] = [0, 0, 0];
  const worker = startWorker<number>({
    parallel: 3,
    pollMs: never,
    async claim() {
      claims += 1;
      // The end of a job leads to the next claim.
      if (claims === 3) throw new Error('The claim failed.');
      return jobs.shift();
    },
    async run(job) {
      begun.push(job);
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      if (job % 2 === 1) throw new Error(`Job ${job} failed.`);
    },
    onError: (error) => errors.push(error),
  });
  await expect.poll(() => [begun.length, running]).toEqual([10, 0]);
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(most).toBe(3);
  const failed = [1, 3, 5, 7, 9].map((job) => `Error: Job ${job} failed.`);
  expect(errors.map(String).toSorted()).toEqual([...failed, 'Error: The claim failed.']);
  await worker.stop();
});

test('a wake-up during a claim that finds nothing leads to another claim', async () => {
  const answer = Promise.withResolvers<undefined>();
  const found = Promise.withResolvers<string>();
  const jobs = ['queued meanwhile'];
  const answers = [answer.promise];
  const worker = startWorker<string>({
    parallel: 1,
    pollMs: never,
    claim: async () => answers.shift() ?? jobs.shift(),
    run: async (job) => found.resolve(job),
    onError: found.reject,
  });
  worker.wake();
  answer.resolve(undefined);
  expect(await found.promise).toBe('queued meanwhile');
  await worker.stop();
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
