import { expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import type { Clock } from '../../src/client/time.ts';
import type { Entry } from '../../src/locks/ledger/entry.ts';
import { createLockSession } from '../../src/locks/session.ts';
import { lockPath } from '../client/test-client.ts';
import { end, errorOf, grantOf, iso, knownLock, lockOf, refused, start, terms } from './samples.ts';

const openSession = (client: Partial<Client>, clock: Clock, record: (entry: Entry) => void = () => undefined) =>
  createLockSession({
    ...{ sleep: async () => undefined, random: () => 0.5 },
    // The tests send no other requests.
    ...{ client: client as Client, clock, record },
  });

test('records the intent in the ledger, with a new key for the one place of the step, before it sends a request', async () => {
  const ledger: Entry[] = [];
  const found: Record<string, readonly Entry[]> = {};
  const client: Partial<Client> = {
    serverNow: Date.now,
    async acquireLock({ path }) {
      found[`asked ${path}`] = [...ledger];
      throw new Error('The step was killed here.');
    },
  };
  const session = openSession(client, Date.now, (entry) => ledger.push(entry));
  for (const path of ['a', 'b']) {
    const asked = session.acquire(session.intend(lockPath(path), terms), { deadline: Number.POSITIVE_INFINITY });
    await expect(asked).rejects.toThrow('killed');
  }
  const intent = (path: string) =>
    expect.objectContaining({ kind: 'intent', step: 's', path, ttl: '1h', key: `s/${path === 'a' ? 1 : 2}` });
  expect(found).toEqual({
    'asked a': [intent('a')],
    'asked b': [intent('a'), intent('b')],
  });
});

test('does not repeat a release that may have been done, if the lock cannot be distinguished from a later one', async () => {
  const events: string[] = [];
  let areListed = true;
  const error = errorOf({ kind: 'timeout', limitMs: 1_000 });
  const client: Partial<Client> = {
    serverNow: () => Date.parse(end) - 60_000,
    async listLocks() {
      events.push('look');
      const items = areListed ? [knownLock('a')] : [];
      return { items, incomplete: areListed ? undefined : 'The service is down.' };
    },
    async releaseLock() {
      events.push('send');
      areListed = false;
      return { kind: 'failed', error, mayBeDone: true };
    },
  };
  const session = openSession(client, () => 0);
  const grant = grantOf('a', { lock: { path: lockPath('a'), type: 'exclusive', expires_at: end } });
  const release = () => session.release(grant, { deadline: 1 });
  await expect(release()).resolves.toMatchObject({ kind: 'failed', mayBeDone: true });
  areListed = true;
  await expect(release()).resolves.toEqual({ kind: 'ambiguous' });
  expect(events).toEqual(['look', 'send', 'look', 'look']);
});

test.each([
  ['its first request, which may have been granted before a repeated one', undefined, 90_000],
  ['its first request if that did not wait', { seconds: 0, urgency: 3 }, 90_000],
  ['the response to a request that waited', { seconds: 30, urgency: 3 }, 0],
] as const)('counts the age of a lock from %s', async (_, line, age) => {
  let now = 0;
  const lock = { ...knownLock('a'), ...grantOf('a').lock };
  const client: Partial<Client> = {
    serverNow: () => now,
    async acquireLock() {
      now += 90_000;
      return { kind: 'acquired', lock };
    },
  };
  const session = openSession(client, () => now);
  const acquired = await session.acquire(session.intend(lockPath('a'), terms), { deadline: 1 }, line);
  expect(acquired.kind === 'acquired' && now - acquired.grantedAt).toBe(age);
});

test('counts the age of a lock from its acquired_at, although an earlier request may have been granted', async () => {
  let now = start;
  const lock = { ...knownLock('a'), ...lockOf('a', { acquired_at: iso(600_000) }) };
  const error = errorOf(refused(502));
  const client: Partial<Client> = {
    serverNow: () => now,
    async acquireLock() {
      if (now > start) return { kind: 'acquired', lock };
      return { kind: 'failed', error, mayBeDone: true };
    },
  };
  const session = openSession(client, () => now);
  const intent = session.intend(lockPath('a'), terms);
  const request = () => session.acquire(intent, { deadline: now + 1 }, { seconds: 0, urgency: 3 });
  await expect(request()).resolves.toMatchObject({ kind: 'failed', mayBeDone: true });
  now += 600_000;
  const acquired = await request();
  expect(acquired.kind === 'acquired' && now - acquired.grantedAt).toBe(0);
});

test.each([
  [true, ['intent']],
  [false, ['intent', 'ended']],
])(
  'a lock that blocks a repeated request ends its intent, unless it may be its result: %s',
  async (mayBeDone, kinds) => {
    const recorded: string[] = [];
    const conflict = { ...{ hasWaited: false, queue: undefined }, error: errorOf(refused(409)) };
    const held = { kind: 'held', mayBeDone, path: lockPath('a'), holder: knownLock('a'), ...conflict } as const;
    const client: Partial<Client> = { serverNow: Date.now, acquireLock: async () => held };
    const session = openSession(client, Date.now, ({ kind }) => recorded.push(kind));
    await expect(session.acquire(session.intend(lockPath('a'), terms), { deadline: 1 })).resolves.toEqual(held);
    expect(recorded).toEqual(kinds);
  },
);

test('reports when a repeated request was first sent by the clock that its response shows', async () => {
  let behindMs = 0;
  const asked: (number | undefined)[] = [];
  const client: Partial<Client> = {
    serverNow: () => start + 60_000 - behindMs,
    async acquireLock({ firstSentAt }) {
      // The first response with a time.
      behindMs = 3_600_000;
      asked.push(firstSentAt?.());
      return { kind: 'failed', error: errorOf({ kind: 'timeout', limitMs: 1_000 }), mayBeDone: true };
    },
  };
  let now = 0;
  const session = openSession(client, () => now);
  const intent = session.intend(lockPath('a'), terms);
  await session.acquire(intent, { deadline: 1 });
  now = 20_000;
  behindMs = 0;
  await session.acquire(intent, { deadline: 1 });
  expect(asked).toEqual([undefined, start + 60_000 - 3_600_000 - 20_000]);
});
