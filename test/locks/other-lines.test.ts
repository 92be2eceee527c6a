import { expect, onTestFinished, test } from 'vitest';
import { acquireLocks } from '../../src/locks/acquire.ts';
import type { Entry } from '../../src/locks/ledger/entry.ts';
import { createLockSession } from '../../src/locks/session.ts';
import { clientOf, lockPath, realTime } from '../client/test-client.ts';
import type { Answer } from '../support/other-servers/other-server.ts';
import { json, nothing, page, problem, reset, silence } from '../support/other-servers/responses.ts';
import { terms } from './samples.ts';

const type = 'urn:workspace-automation:problem:locked';
const theirs = { id: 'l0', path: 'a', owner: 'grace' };

/** Its line has one path, held by someone else until the first request that waits. */
function lineOf(answerToWaits: (number: number, keys: readonly string[]) => Answer | 'grant') {
  let holder = 'grace';
  let held = 0;
  const keys: string[] = [];
  const waitingKeys: string[] = [];
  const answer: Answer = (response, request) => {
    const { method, headers } = request;
    const key = String(headers['idempotency-key']);
    const prefer = String(headers['prefer']);
    const reply = (): Answer => {
      if (method === 'DELETE') {
        held -= 1;
        holder = '';
        return nothing(204);
      }
      if (method === 'GET') return json(200, { locks: holder === '' ? [] : [{ ...theirs, owner: holder }] });
      if (holder === key || holder === '') {
        held += holder === '' ? 1 : 0;
        holder = key;
        return json(201, { id: 'l1', path: 'a', owner: 'ada' }, { etag: '"l1"' });
      }
      if (/wait=[1-9]/.test(prefer)) {
        waitingKeys.push(key);
        const given = answerToWaits(waitingKeys.length - 1, waitingKeys);
        if (given !== 'grant') return given;
        held += 1;
        holder = key;
        return json(201, { id: 'l1', path: 'a', owner: 'ada' }, { etag: '"l1"' });
      }
      const applied = prefer === 'undefined' ? {} : { 'preference-applied': 'wait=0' };
      return problem(409, { type, lock: theirs, queue: { position: 1, length: 1 } }, applied);
    };
    keys.push(key);
    reply()(response, request);
  };
  return {
    answer,
    keys,
    waitingKeys,
    /** Grants the lock to the last request that waited, although it gets another response. */
    grantTo(key: string): void {
      held += 1;
      holder = key;
    },
    held: () => held,
  };
}

async function acquireFrom(answer: Answer, waitSeconds: number, signal = new AbortController().signal) {
  const { client } = await clientOf(answer, { ...realTime, requestTimeoutMs: 1_000, retries: 0 });
  const ledger: Entry[] = [];
  const record = (...entries: readonly Entry[]): void => void ledger.push(...entries);
  const context = { client, clock: Date.now, random: Math.random, signal, sleep: sleepUnless, record };
  const session = createLockSession({ ...context, origin: undefined });
  const { round, unanswered } = await acquireLocks(
    {
      ...{ ...context, session, terms, withoutWait: { deadline: Date.now() + 150_000, signal } },
      log: { line: () => undefined },
    },
    { paths: [lockPath('a')], count: 1 },
    { wait: { seconds: waitSeconds }, urgency: 3 },
  );
  return { round, unanswered, ledger };
}

const sleepUnless = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) resolve();
    const timer = setTimeout(resolve, ms);
    onTestFinished(() => clearTimeout(timer));
    signal?.addEventListener('abort', () => resolve());
  });

test.each<[string, Answer]>([
  ['a 502', nothing(502)],
  ['the 404 page of a gateway', page(404)],
  ['a 409 of a gateway', nothing(409)],
  ['a lost connection', reset],
])('keeps a lock that was granted during a wait that ends with %s', async (_, cut) => {
  const line = lineOf((number, keys) => {
    if (number > 0) throw new Error('The request was repeated with another key.');
    line.grantTo(keys[0] ?? '');
    return cut;
  });
  const { round, unanswered, ledger } = await acquireFrom(line.answer, 20);
  expect(round).toMatchObject({ kind: 'acquired', grants: [{ path: 'a', key: line.waitingKeys[0] }] });
  expect(unanswered).toEqual([]);
  expect(line.held()).toBe(1);
  // The repetition has the same key, and so has its grant.
  expect(line.keys.slice(-2)).toEqual([line.waitingKeys[0], line.waitingKeys[0]]);
  expect(ledger.map(({ kind }) => kind)).toEqual(['intent', 'ended', 'intent', 'granted']);
});

test.each<[string, Answer]>([
  ['a 502', nothing(502)],
  ['a 409 of a gateway', nothing(409)],
  ['a lost connection', reset],
])('asks for its place after %s, continues to wait, and gets the lock at its turn', async (_, cut) => {
  const line = lineOf((number) => (number < 2 ? cut : 'grant'));
  const { round } = await acquireFrom(line.answer, 20);
  expect(round.kind).toBe('acquired');
  expect(line.waitingKeys).toHaveLength(3);
  expect(new Set(line.keys.map((key) => key.split('/')[0])).size).toBe(1);
});

test('releases a lock that was granted to the request of a cancelled wait', async () => {
  const stop = new AbortController();
  const line = lineOf((_, keys) => {
    line.grantTo(keys[0] ?? '');
    setTimeout(() => stop.abort(), 50);
    return silence;
  });
  const began = Date.now();
  const { round, unanswered } = await acquireFrom(line.answer, 600, stop.signal);
  expect(round.kind).toBe('cancelled');
  expect(unanswered).toEqual([]);
  expect(line.held()).toBe(0);
  expect(Date.now() - began).toBeLessThan(5_000);
});

test('ends in time if each wait is confirmed, but none is granted', async () => {
  const never = problem(409, { type, lock: theirs }, { 'preference-applied': 'wait=1' });
  const line = lineOf(() => (response, request) => void setTimeout(() => never(response, request), 1_000));
  const began = Date.now();
  const { round } = await acquireFrom(line.answer, 3);
  expect(round.kind).toBe('held');
  expect(Date.now() - began).toBeLessThan(3_500);
  expect(line.waitingKeys.length).toBeGreaterThan(1);
  expect(new Set(line.waitingKeys).size).toBe(line.waitingKeys.length);
});
