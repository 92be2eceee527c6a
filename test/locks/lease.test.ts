import { expect, test } from 'vitest';
import { asFlag } from '../../src/cli/session.ts';
import type { Client } from '../../src/client/client.ts';
import type { EndLeaseResult, PutLeaseResult } from '../../src/client/leases.ts';
import type { Conflict } from '../../src/client/post-lock.ts';
import type { LockPath } from '../../src/interface/lock-path.ts';
import { acquireLocks, notAcquiredText } from '../../src/locks/acquire.ts';
import { type Entry, readEntry } from '../../src/locks/ledger/entry.ts';
import { historyOf, openHistory } from '../../src/locks/ledger/history.ts';
import type { IntentResult } from '../../src/locks/path-by-path.ts';
import { lockPath } from '../client/test-client.ts';
import {
  acquiring,
  commandSession,
  conflictOf,
  errorOf,
  grantedTo,
  knownLock,
  lockOf,
  onlyInterface,
  refused,
  serviceOf,
  start,
  terms,
  timedOut,
} from './samples.ts';

const second = 1_000;
const paths = ['a', 'b'].map(lockPath);
const goal = { count: 2, paths };

/** Requests a lease in virtual time, which passes only in pauses and requests. */
async function requesting(
  put: (number: number) => PutLeaseResult,
  waitSeconds: number,
  end: EndLeaseResult = { kind: 'ended', released: [], lost: [] },
  signal = new AbortController().signal,
) {
  let now = start;
  let puts = 0;
  const entries: Entry[] = [];
  const client: Pick<Client, 'serverNow' | 'putLease' | 'endLease'> = {
    serverNow: () => now,
    async putLease() {
      now += 20;
      puts += 1;
      return put(puts);
    },
    endLease: async () => end,
  };
  const result = await acquiring(
    client,
    {
      ...{ clock: () => now, record: (...all) => entries.push(...all), signal, step: crypto.randomUUID() },
      async sleep(ms) {
        now += ms;
      },
    },
    goal,
    waitSeconds,
  );
  return { result, puts, entries };
}

const blocked = (more: Partial<Conflict>): PutLeaseResult => ({
  kind: 'blocked',
  mayBeDone: false,
  conflicts: [
    {
      path: lockPath('a'),
      holder: undefined,
      ...{ hasWaited: true, queue: { position: 1, length: 1 }, error: errorOf(refused(409)) },
      ...more,
    },
  ],
});

test('a service that accepts no more waits is asked again only after the time that it names', async () => {
  const { result, puts } = await requesting(
    () => blocked({ hasWaited: false, error: errorOf(refused(409, { retryAfterMs: 30 * second })) }),
    60,
  );
  expect(result.kind).toBe('held');
  expect(puts).toBeLessThanOrEqual(4);
});

test.each([
  ['expired', /^The lock on b expired at .*Increase --ttl/],
  ['forced', /^Someone released the lock on b before all paths were locked\. Try again\.$/],
  ['released', /^Someone released the lock on b /],
])('a lease that lost a lock before its response arrived says why: %s', async (reason, text) => {
  const lost = [{ path: lockPath('b'), reason, holder: undefined }];
  const { result } = await requesting(() => ({ kind: 'held', locks: [], items: [], lost }), 0);
  if (result.kind === 'acquired') return expect.unreachable();
  expect(notAcquiredText(result, { seconds: 0 }, start, asFlag)).toMatch(text);
});

test.each([1, 2])('the locks of a lease are recorded, and as old as its response: %i', async (count) => {
  const held = paths.slice(0, count).map((path) => ({ ...knownLock(path), ...lockOf(path), path, lease: 'l' }));
  const { result, entries } = await requesting(() => ({ kind: 'held', locks: held, items: [], lost: [] }), 0);
  expect(result).toMatchObject({ kind: 'acquired', grantedAt: start + 20 });
  expect(entries.filter(({ kind }) => kind === 'granted')).toHaveLength(count);
});

test('the locks of a lease are recorded readably, under keys of their own, whatever their paths are', async () => {
  const locks = ['Content/日本.uasset', '1'].map((path) => ({ ...knownLock(path), ...lockOf(path), lease: 'l' }));
  const { entries } = await requesting(() => ({ kind: 'held', locks, items: [], lost: [] }), 0);
  expect(entries.map((entry) => readEntry(JSON.stringify(entry)))).toEqual(entries);
  const keys = entries.flatMap((entry) => (entry.kind === 'granted' ? [entry.key.replace(entry.step, '')] : []));
  expect(keys).toEqual(['/lease/1', '/lease/2']);
});

test.each<[string, EndLeaseResult, number]>([
  ['nothing if its lease has ended', { kind: 'ended', released: [], lost: [] }, 0],
  ['a lease that could not be ended', { kind: 'failed', error: errorOf(refused(503)), mayBeDone: true }, 1],
])('a cancelled step leaves %s', async (_, end, count) => {
  const { result, entries } = await requesting(
    () => ({ ...blocked({}), mayBeDone: true }),
    60,
    end,
    AbortSignal.abort(),
  );
  expect(result).toMatchObject({ kind: 'cancelled' });
  expect(historyOf(entries).leases).toHaveLength(count);
});

test.each(['release', 'response'])(
  'a step that holds a lock because its %s was lost does not wait for it in a lease',
  async (lost) => {
    const names = ['a', 'b', 'c'].map(lockPath);
    const error = errorOf(timedOut);
    const mine = new Set<string>();
    const grantTo = (path: LockPath): IntentResult => {
      mine.add(path);
      return grantedTo(path);
    };
    /** What the step held at each request for its lease. */
    const heldAt: string[][] = [];
    let isOurs = false;
    let failures = 1;
    const service = serviceOf({
      async acquire(path) {
        if (path === 'b' && lost === 'response') {
          mine.add(path);
          return { kind: 'failed', error, mayBeDone: true };
        }
        if (path !== 'c') return grantTo(path);
        isOurs = true;
        return { kind: 'held', ...conflictOf('c', 1), path, mayBeDone: false };
      },
      async settle(path) {
        if (failures-- > 0) return { kind: 'failed', error, mayBeDone: true };
        return grantTo(path);
      },
      async release(path) {
        if (lost === 'release' && failures-- > 0) return { kind: 'failed', error, mayBeDone: true };
        mine.delete(path);
        return { kind: 'released' };
      },
    });
    const client: Partial<Client> = {
      ...service,
      endLease: async () => ({ kind: 'ended', released: [], lost: [] }),
      serverNow: () => start,
      isOurs: () => isOurs,
      async putLease(request, within) {
        // A gateway answers the first one.
        if (heldAt.push([...mine]) === 1) return onlyInterface.putLease(request, within);
        const locks = names.map((path) => ({ ...knownLock(path), ...lockOf(path), path, lease: 'l' }));
        return mine.size > 0 ? blocked({}) : { kind: 'held', locks, items: [], lost: [] };
      },
    };
    let now = start;
    const history = openHistory();
    const result = await acquiring(
      client,
      {
        ...{ clock: () => now, record: (...entries) => history.add(entries) },
        async sleep(ms) {
          now += ms;
        },
      },
      { count: 3, paths: names },
      60,
    );
    expect(heldAt).toEqual([[], []]);
    expect(result.kind).toBe('acquired');
    expect(history.read().held.filter(({ grant }) => grant.lock.lease === undefined)).toEqual([]);
    expect(history.read().unanswered).toEqual([]);
  },
);

test('a command tries once more to end a lease whose responses were lost, and reports it', async () => {
  const error = errorOf(timedOut);
  let ends = 0;
  const client: Pick<Client, 'serverNow' | 'putLease' | 'endLease'> = {
    serverNow: Date.now,
    putLease: async () => ({ kind: 'failed', error, mayBeDone: true }),
    async endLease() {
      ends += 1;
      return { kind: 'failed', error, mayBeDone: true };
    },
  };
  const reported: string[] = [];
  const session = commandSession(client, terms.ttl, (line) => reported.push(line));
  const { context } = session;
  const withoutWait = { deadline: context.clock() + second };
  const waiting = { wait: { seconds: 0 }, priority: 3 } as const;
  const round = await acquireLocks({ ...context, withoutWait }, goal, waiting);
  expect(round.kind).toBe('failed');
  const before = ends;
  expect(await session.releaseAll(second)).toEqual({ isReleased: false, hasLost: false });
  expect(ends).toBe(before + 1);
  expect(reported.at(-1)).toMatch(/^Locks may have been acquired \(a\): /);
});
