import { expect, test } from 'vitest';
import type { Client, KnownLock } from '../../src/client/client.ts';
import { createLockSession } from '../../src/locks/session.ts';
import { lockPath } from '../client/test-client.ts';
import { errorOf, iso, knownLock, refused, start, terms } from './samples.ts';

const noPauses = { sleep: async () => undefined, random: () => 0.5 };

const run = 'https://ci.example.com/runs/1';
const minute = 60_000;

/** The first request stays without a response; the repetition a minute later finds the path held by this lock. */
async function repeated(origin: string | undefined, holder: Partial<KnownLock>) {
  let now = 0;
  const conflict = {
    retryAfterMs: undefined,
    hasWaited: false,
    queue: undefined,
    error: errorOf(refused(409)),
  };
  const held = (lock: Partial<KnownLock>) =>
    ({ kind: 'held', mayBeOurs: true, path: lockPath('a'), holder: knownLock('a', lock), ...conflict }) as const;
  const answers: Awaited<ReturnType<Client['acquireLock']>>[] = [
    { kind: 'unanswered', error: errorOf({ kind: 'timeout', limitMs: 1_000 }) },
    held(holder),
  ];
  const client: Pick<Client, 'serverNow' | 'acquireLock'> = {
    serverNow: () => start + now,
    acquireLock: async () => answers.shift() ?? Promise.reject(new Error('One request too many.')),
  };
  const session = createLockSession({
    ...noPauses,
    // Requests for a lock use no other methods.
    client: client as Client,
    clock: () => now,
    origin,
    record: () => undefined,
  });
  const within = { deadline: Number.POSITIVE_INFINITY };
  const intent = session.intend(lockPath('a'), terms);
  await session.acquire(intent, within);
  now += minute;
  return (await session.acquire(intent, within)).kind;
}

const since = iso(1_000);

test.each<[string, string | undefined, Partial<KnownLock>]>([
  ['of the same run, acquired since the first request', run, { origin: run, acquired_at: since }],
  ['of unknown origin, on a service that keeps none', run, { acquired_at: since }],
  ['of a run, if this one has no address', undefined, { origin: run, acquired_at: since }],
  ['of unknown time', run, { origin: run }],
  ['acquired just before, by a clock that may be off', run, { origin: run, acquired_at: iso(-100) }],
])('a lock that blocks a repeated request may be its result: %s', async (_, origin, holder) => {
  expect(await repeated(origin, { id: 'lock', ...holder })).toBe('unanswered');
});

test.each<[string, Partial<KnownLock>]>([
  ['of another run', { origin: 'https://ci.example.com/runs/2', acquired_at: since }],
  ['of the same run, acquired before the first request', { origin: run, acquired_at: iso(-minute) }],
])('a lock that blocks a repeated request is not its result: %s', async (_, holder) => {
  expect(await repeated(run, { id: 'lock', ...holder })).toBe('held');
});
