import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { medianOf } from '../../bench/statistics.ts';
import { leaveOut } from '../support/left-out.ts';
import { measured } from '../support/measured.ts';
import { collectingGarbage } from '../support/preload.ts';
import { runs } from '../support/runs.ts';
import { printedSeed, randomOf } from '../support/seed.ts';
import { callsTo, startService } from './service-calls.ts';

/** Seconds of load; a short run only shows that the load itself works. */
const seconds = Number(process.env['LOAD_SECONDS'] ?? runs(0, 600));
const samples = Math.min(90, Math.max(3, Math.floor(seconds)));

/**
 * V8 reserves as much room for young objects as it ever needed, and touches the rest of it only under a higher load. A
 * machine that becomes idle in the middle of the run would otherwise look like a leak of 40 MB.
 */
const smallYoungHeap = '--max-semi-space-size=2';

const third = (numbers: readonly number[], which: 0 | 1 | 2): readonly number[] => {
  const length = Math.floor(numbers.length / 3);
  return numbers.slice(which * length, (which + 1) * length);
};

const megabytes = (bytes: number): number => bytes / 1_024 / 1_024;

/** The growth between the medians of two thirds. */
const growth = (numbers: readonly number[]): number =>
  megabytes(medianOf(third(numbers, 2)) - medianOf(third(numbers, 1)));

const pauseMs = 10;
/** The number of parallel loads of each kind. */
const atOnce = 3;

/** Repeats the work in parallel, with pauses; returns a function that ends it. */
function onAndOn(work: () => Promise<unknown>): () => Promise<unknown> {
  let stopped = false;
  async function go(): Promise<void> {
    while (!stopped) {
      await work();
      await wait(pauseMs);
    }
  }
  const running = Promise.all(Array.from({ length: atOnce }, go));
  return () => {
    stopped = true;
    return running;
  };
}

test('memory stays within bounds under a long mixed load', {
  timeout: seconds * 1_000 + 120_000,
}, async (context) => {
  if (seconds === 0) leaveOut(context, 'It is part of `npm run test:soak`.');
  const service = await startService({
    args: ['--log-level', 'warn'],
    environment: { NODE_OPTIONS: `${collectingGarbage(500)} ${smallYoungHeap}` },
  });
  const { get, lock } = callsTo(service);
  const random = randomOf(printedSeed('The load'));
  const loads = [
    // These locks are left to expire.
    onAndOn(async () => {
      const { status } = await lock(`load/${Math.floor(random() * 5_000)}`, {}, '2s');
      expect([201, 409]).toContain(status);
    }),
    onAndOn(async () => {
      expect((await get(`/v1/workspaces/${service.workspace}/locks?limit=1000`)).status).toBe(200);
    }),
  ];

  const resident: number[] = [];
  const heap: number[] = [];
  const files: number[] = [];
  const figure = (text: string, name: string): number =>
    Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  for (let sample = 0; sample < samples; sample += 1) {
    await wait((seconds * 1_000) / samples);
    const { text } = await get('/metrics');
    resident.push(figure(text, 'process_resident_memory_bytes'));
    heap.push(figure(text, 'nodejs_heap_size_used_bytes'));
    files.push(figure(text, 'process_open_fds'));
  }
  for (const stop of loads) await stop();

  measured('time under load (s)', seconds, { atLeast: runs(1, 600) });
  measured('peak resident memory (MB)', megabytes(Math.max(...resident)), { atMost: 400 });
  // In a short run the service is still warming up.
  if (seconds >= 60) {
    measured('growth of the heap from the second third to the last (MB)', growth(heap), { atMost: 5 });
    measured('growth of resident memory from the second third to the last (MB)', growth(resident), { atMost: 30 });
    measured('growth of the number of open files', medianOf(third(files, 2)) - medianOf(third(files, 1)), {
      atMost: 20,
    });
  }
  expect(service.command.stderr()).not.toContain('"level":"error"');
  expect(await service.stop()).toBe(0);
});
