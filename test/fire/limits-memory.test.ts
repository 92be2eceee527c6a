import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { leaveOut } from '../support/left-out.ts';
import { collectingGarbage } from '../support/preload.ts';
import { ask } from '../support/running-service.ts';
import { runs } from '../support/runs.ts';
import { printedSeed, type Random, randomOf } from '../support/seed.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { measured } from '../support/soak/measured.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';
import { garbage } from './garbage.ts';
import { sendGarbage } from './send-garbage.ts';
import { callsTo, startService } from './service-calls.ts';

/** Seconds of load; a short run shows only that the load itself is right. */
const seconds = Number(process.env['LOAD_SECONDS'] ?? runs(0, 600));
const samples = Math.min(90, Math.max(3, Math.floor(seconds)));

/**
 * V8 reserves room for young objects by the most that it ever needed, and touches it first when there is more to do than
 * before. A machine that becomes free in the middle of the run would look like a leak of 40 MB.
 */
const smallYoungHeap = '--max-semi-space-size=2';

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;

const third = (numbers: readonly number[], which: 0 | 1 | 2): readonly number[] => {
  const length = Math.floor(numbers.length / 3);
  return numbers.slice(which * length, (which + 1) * length);
};

const megabytes = (bytes: number): number => bytes / 1_024 / 1_024;

/** Between the medians of two thirds. */
const growth = (numbers: readonly number[]): number => megabytes(median(third(numbers, 2)) - median(third(numbers, 1)));

const pauseMs = 10;
/** Of each kind. */
const atOnce = 3;

/** Everything that clients do, all at once: locks, lists, syncs, hooks, and garbage. */
function startMixedLoad(service: ServiceProcess, hookUrl: string, seed: number) {
  const { baseUrl, token, workspace } = service;
  const url = `/workspaces/${workspace}`;
  const port = Number(new URL(baseUrl).port);
  /** How many requests of each kind were made. */
  const made: Record<string, number> = {};
  /** What was answered with a status that it must not have. */
  const wrong: string[] = [];
  let stopped = false;

  async function expectOne(statuses: readonly number[], method: string, path: string, json?: unknown) {
    const headers = { 'idempotency-key': randomUUID() };
    const reply = await ask(baseUrl, method, path, { token, ...(json !== undefined && { json, headers }) });
    if (!statuses.includes(reply.status) && wrong.length < 20) {
      wrong.push(`${method} ${path}: ${reply.status} ${reply.text}`);
    }
    return reply;
  }

  const works: Readonly<Record<string, (random: Random) => Promise<unknown>>> = {
    async locks(random) {
      // Some are left to their ttl.
      const path = `load/${Math.floor(random() * 5_000)}`;
      const { status } = await expectOne([201, 409], 'POST', `${url}/locks`, { path, type: 'exclusive', ttl: '2s' });
      if (status !== 201 || random() < 0.3) return;
      await expectOne([204, 403, 404], 'DELETE', `${url}/locks/${encodeURIComponent(path)}`);
    },
    lists: () => expectOne([200], 'GET', `${url}/locks?limit=100`),
    syncs: () => expectOne([202], 'POST', `${url}/sync`, { branch: 'main' }),
    hooks: (random) =>
      expectOne([200, 201], 'POST', `${url}/hooks`, {
        url: `${hookUrl}?${Math.floor(random() * 3)}`,
        events: ['lock.acquired', 'sync.succeeded'],
      }),
    branches: () => expectOne([200], 'GET', `${url}/branches`),
  };

  async function repeat(kind: string, pause: number, work: () => Promise<unknown>): Promise<void> {
    while (!stopped) {
      await work().catch((error: unknown) => wrong.length < 20 && wrong.push(`${kind}: ${String(error)}`));
      made[kind] = (made[kind] ?? 0) + 1;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  const random = randomOf(seed);
  const pieces = garbage(random, { workspace, token, smuggled: 'smuggled' });
  const sendPiece = async (): Promise<void> => {
    const { value } = pieces.next();
    if (value === undefined) return;
    const sent = await sendGarbage(port, value);
    if (sent.kind === 'silent') wrong.push(`${value.kind} was not answered.`);
  };
  const several = (kind: string, work: () => Promise<unknown>) =>
    Array.from({ length: atOnce }, () => repeat(kind, pauseMs, work));
  const running = Object.entries(works).flatMap(([kind, work]) =>
    // Each of these starts processes of git.
    kind === 'syncs' || kind === 'branches'
      ? [repeat(kind, 50 * pauseMs, () => work(random))]
      : several(kind, () => work(random)),
  );
  running.push(...several('garbage', sendPiece));
  return {
    made,
    wrong,
    async stop() {
      stopped = true;
      await Promise.all(running);
    },
  };
}

test('everything at once for a long time: memory stays within bounds', {
  timeout: seconds * 1_000 + 120_000,
}, async (context) => {
  if (seconds === 0) leaveOut(context, 'Memory is watched for ten minutes: in npm run test:soak, or for LOAD_SECONDS.');
  const receiver = await startWebhookReceiver();
  onTestFinished(receiver.close);
  const service = await startService({
    args: ['--log-level', 'warn'],
    environment: { NODE_OPTIONS: `${collectingGarbage(500)} ${smallYoungHeap}` },
  });
  const { get } = callsTo(service);
  const load = startMixedLoad(service, receiver.url(), printedSeed('The load'));

  const resident: number[] = [];
  const heap: number[] = [];
  const files: number[] = [];
  const figure = (text: string, name: string): number =>
    Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  for (let sample = 0; sample < samples; sample += 1) {
    await new Promise((resolve) => setTimeout(resolve, (seconds * 1_000) / samples));
    const { text } = await get('/metrics');
    resident.push(figure(text, 'process_resident_memory_bytes'));
    heap.push(figure(text, 'nodejs_heap_size_used_bytes'));
    files.push(figure(text, 'process_open_fds'));
  }
  await load.stop();

  measured('time under load', seconds);
  measured('answers with a status that must not be', load.wrong.length, load.wrong);
  expect(receiver.deliveries.length).toBeGreaterThan(0);
  for (const count of Object.values(load.made)) expect(count).toBeGreaterThan(0);
  measured('resident memory at most', megabytes(Math.max(...resident)));
  // In a short run the service is still warming up.
  if (seconds >= 60) {
    measured('growth of the heap from the second third to the last', growth(heap));
    measured('growth of resident memory from the second third to the last', growth(resident));
    measured('growth of the number of open files', median(third(files, 2)) - median(third(files, 1)));
  }
  expect(service.command.stderr()).not.toContain('"level":50');
  expect(await service.stop()).toBe(0);
});
