import { expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import type { Clock } from '../../src/client/time.ts';
import type { Entry } from '../../src/locks/ledger/entry.ts';
import { createIntents } from '../../src/locks/path-by-path.ts';
import { lockPath } from '../client/test-client.ts';
import { errorOf, grantOf, iso, knownLock, lockOf, refused, start, terms, timedOut } from './samples.ts';

const openIntents = (client: Partial<Client>, clock: Clock, record: (entry: Entry) => void = () => undefined) =>
  // The tests send no other requests.
  createIntents({ client: client as Client, clock, record });

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
  const intents = openIntents(client, Date.now, (entry) => ledger.push(entry));
  for (const path of ['a', 'b']) {
    const asked = intents.request(intents.create(lockPath(path), terms), { deadline: Number.POSITIVE_INFINITY });
    await expect(asked).rejects.toThrow('killed');
  }
  const intent = (path: string) =>
    expect.objectContaining({ kind: 'intent', step: 's', path, ttl: '1h', key: `s/${path === 'a' ? 1 : 2}` });
  expect(found).toEqual({
    'asked a': [intent('a')],
    'asked b': [intent('a'), intent('b')],
  });
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
  const intents = openIntents(client, () => now);
  const acquired = await intents.request(intents.create(lockPath('a'), terms), { deadline: 1 }, line);
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
  const intents = openIntents(client, () => now);
  const intent = intents.create(lockPath('a'), terms);
  const request = () => intents.request(intent, { deadline: now + 1 }, { seconds: 0, urgency: 3 });
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
    const intents = openIntents(client, Date.now, ({ kind }) => recorded.push(kind));
    await expect(intents.request(intents.create(lockPath('a'), terms), { deadline: 1 })).resolves.toEqual(held);
    expect(recorded).toEqual(kinds);
  },
);

test('reports when this or another process first sent a request, by the clock that its response shows', async () => {
  let behindMs = 0;
  const asked: (number | undefined)[] = [];
  const client: Partial<Client> = {
    serverNow: () => start + 60_000 - behindMs,
    async acquireLock({ firstSentAt }) {
      // The first response with a time.
      behindMs = 3_600_000;
      asked.push(firstSentAt?.());
      return { kind: 'failed', error: errorOf(timedOut), mayBeDone: true };
    },
  };
  const intents = openIntents(client, Date.now);
  const intent = intents.create(lockPath('a'), terms);
  await intents.request(intent, { deadline: 1 });
  for (const { request } of [intents, openIntents(client, Date.now)]) {
    behindMs = 0;
    await request({ ...intent, notSentBefore: intent.notSentBefore - 20_000 }, { deadline: 1 });
  }
  const by = start + 60_000 - 3_600_000 - 20_000;
  // The clock of the machine keeps running during the test.
  const about = expect.toSatisfy((ms: number) => ms <= by && ms > by - 10_000);
  expect(asked).toEqual([undefined, about, about]);
});
