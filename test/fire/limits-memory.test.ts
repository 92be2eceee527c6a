import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { medianOf } from '../../bench/statistics.ts';
import { leaveOut } from '../support/left-out.ts';
import { measured } from '../support/measured.ts';
import { preload } from '../support/preload.ts';
import { printedSeed, randomOf } from '../support/seed.ts';
import { callsTo, startService } from './service-calls.ts';

const seconds = 600;
const samples = 90;

/**
 * V8 reserves as much room for young objects as it ever needed, and touches the rest of it only under a higher load. A
 * machine that becomes idle in the middle of the run would otherwise look like a leak of 40 MB.
 */
const smallYoungHeap = '--max-semi-space-size=2';

const megabyte = 1_024 * 1_024;

/** A process that collects garbage so often that its heap is close to its live data. */
const collectingGarbage = (everyMs: number): string =>
  preload(`
    import v8 from 'node:v8';
    import vm from 'node:vm';
    v8.setFlagsFromString('--expose-gc');
    const collect = vm.runInNewContext('gc');
    setInterval(collect, ${everyMs}).unref();
  `);

/** The growth between the medians of the second and the last third. */
const growth = (numbers: readonly number[]): number =>
  medianOf(numbers.slice((2 * samples) / 3)) - medianOf(numbers.slice(samples / 3, (2 * samples) / 3));

test('memory stays within bounds under a long mixed load', {
  timeout: seconds * 1_000 + 120_000,
}, async (context) => {
  if (process.env['SOAK'] !== '1') leaveOut(context, 'It is part of `npm run test:soak`.');
  const service = await startService({
    args: ['--log-level', 'warn'],
    environment: { NODE_OPTIONS: `${collectingGarbage(500)} ${smallYoungHeap}` },
  });
  const { get, lock, metric } = callsTo(service);
  const random = randomOf(printedSeed('The load'));
  let isOver = false;
  async function goOn(work: () => Promise<void>): Promise<void> {
    while (!isOver) {
      await work();
      await wait(10);
    }
  }
  const lockOne = async () => {
    // These locks are left to expire.
    const { status } = await lock(`load/${Math.floor(random() * 5_000)}`, {}, '2s');
    expect([201, 409]).toContain(status);
  };
  const list = async () => {
    expect((await get(`/v1/workspaces/${service.workspace}/locks?limit=1000`)).status).toBe(200);
  };
  const loads = Promise.all([lockOne, lockOne, lockOne, list, list, list].map(goOn));

  const [resident, heap, files]: [number[], number[], number[]] = [[], [], []];
  for (let sample = 0; sample < samples; sample += 1) {
    await wait((seconds * 1_000) / samples);
    resident.push((await metric('process_resident_memory_bytes')) / megabyte);
    heap.push((await metric('nodejs_heap_size_used_bytes')) / megabyte);
    files.push(await metric('process_open_fds'));
  }
  isOver = true;
  await loads;

  measured('peak resident memory (MB)', Math.max(...resident), { atMost: 400 });
  measured('growth of the heap from the second third to the last (MB)', growth(heap), { atMost: 5 });
  measured('growth of resident memory from the second third to the last (MB)', growth(resident), { atMost: 30 });
  measured('growth of the number of open files', growth(files), { atMost: 20 });
  expect(await service.stop()).toBe(0);
  expect(service.command.stderr()).not.toContain('"level":"error"');
});
