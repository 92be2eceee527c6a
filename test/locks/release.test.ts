import { describe, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import type { KnownLock } from '../../src/client/known-lock.ts';
import { machineClock } from '../../src/client/time.ts';
import type { Entry, Grant, GrantedLock } from '../../src/locks/ledger/entry.ts';
import { createRelease } from '../../src/locks/release.ts';
import { game, hero, lockPath } from '../client/test-client.ts';
import { end, errorOf, iso, knownLock, place, refused, start, timedOut } from './samples.ts';

const second = 1_000;
const lostAnswer = errorOf(timedOut);

type Target = Omit<Parameters<ReturnType<typeof createRelease>>[0], 'service' | 'workspace'>;

type ClientResult = Awaited<ReturnType<Client['releaseLock']>>;

interface Service {
  /** Successive lists and responses; the last of each is repeated. */
  readonly lists?: readonly (KnownLock | undefined)[];
  readonly answers?: readonly ClientResult[];
  /** Whether the service is ours, and so matches ids. */
  readonly isOurs?: boolean;
}

async function releasing(target: Target, { lists = [], answers = [], isOurs = false }: Service = {}) {
  const events: string[] = [];
  const entries: Entry[] = [];
  let now = start;
  let looks = 0;
  let sends = 0;
  const client: Pick<Client, 'serverNow' | 'isOurs' | 'listLocks' | 'releaseLock'> = {
    serverNow: () => now,
    isOurs: () => isOurs,
    async listLocks() {
      events.push('look');
      const lock = lists[Math.min(looks++, lists.length - 1)];
      return { items: lock === undefined ? [] : [lock], incomplete: undefined };
    },
    async releaseLock({ proof, once }) {
      events.push(`send${proof === undefined ? '' : ` ${proof.id}`}${once ? ' once' : ''}`);
      return answers[Math.min(sends++, answers.length - 1)] ?? { kind: 'released' };
    },
  };
  const release = createRelease(
    {
      // A release uses no other methods.
      client: client as Client,
      record: (...all) => entries.push(...all),
      clock: () => now,
      async sleep(ms) {
        now += ms;
      },
      random: () => 0.5,
    },
    { deadline: start + 60 * second },
  );
  const result = await release({ service: place.service, workspace: game, ...target });
  const mayBeDone = result.kind === 'failed' ? { mayBeDone: result.mayBeDone } : {};
  return {
    kind: result.kind,
    ...mayBeDone,
    events,
    recorded: entries.map((entry) => entry.kind + ('failed' in entry && entry.failed ? ', failed' : '')),
  };
}

const own = (
  { key, lastsUntil, ...lock }: Partial<Pick<Grant, 'key' | 'lastsUntil'> & GrantedLock> = {},
  mayBeReleased = false,
): Target => ({
  grant: {
    path: hero,
    lock: { owner: 'grace', acquired_at: iso(1), expires_at: end, ...lock },
    ...(key !== undefined && { key }),
    lastsUntil,
  },
  mayBeReleased,
});
const found = (lock: KnownLock): Target => ({
  grant: { path: hero, lock },
  mayBeReleased: true,
  found: { kind: 'locked', lock },
});
const failing = (mayBeDone: boolean): ClientResult => ({ kind: 'failed', error: lostAnswer, mayBeDone });

const ours = knownLock(hero, { acquired_at: iso(1) });
const later = knownLock(hero, { acquired_at: iso(9 * second) });
const timeless = knownLock(hero);
const withId = { ...ours, id: 'l2' };

describe('the release of a lock of the job', () => {
  test.each([
    ['the id to our service', { id: 'l1' }, { isOurs: true }],
    ['an ETag', { id: 'l1', etag: '"v1"' }, {}],
  ])('sends %s without a lookup, and records the start and the end in the ledger', async (_, lock, service) => {
    expect(await releasing(own(lock), service)).toEqual({
      kind: 'released',
      events: ['send l1'],
      recorded: ['releasing', 'ended'],
    });
  });

  test('sends nothing for a lock whose loss is on record, unless an ETag distinguishes it from a later one', async () => {
    const loss = { kind: 'lost', ...place, step: 's', path: hero, key: 'k1', at: iso(2) } as const;
    const lost = (lock: Partial<GrantedLock>) =>
      releasing({ ...own({ id: 'l1', ...lock }), loss }, { lists: [withId] });
    expect(await lost({})).toMatchObject({ kind: 'other', events: [] });
    expect(await lost({ etag: '"v1"' })).toMatchObject({ events: ['send l1'] });
  });

  test('looks up a lock without an id, and releases it by its path', async () => {
    const events = ['look', 'send once'];
    expect(await releasing(own(), { lists: [ours] })).toMatchObject({ kind: 'released', events });
  });

  test('a lock without an id is looked up again before its request, which has not arrived, is repeated', async () => {
    const refused = failing(false);
    const result = await releasing(own(), { lists: [ours], answers: [refused, refused, { kind: 'released' }] });
    const events = ['look', 'send once', 'look', 'send once', 'look', 'send once'];
    expect(result).toMatchObject({ kind: 'released', events });
    const taken = await releasing(own(), { lists: [ours, later], answers: [refused] });
    expect(taken).toMatchObject({ kind: 'other', events: ['look', 'send once', 'look'] });
    const never = await releasing(own(), { lists: [ours], answers: [refused] });
    expect(never).toMatchObject({ kind: 'failed', mayBeDone: false });
  });

  test('records that its request has not arrived, for other processes of the job', async () => {
    const result = await releasing(own({ key: 'k1' }), { lists: [ours], answers: [failing(false), failing(true)] });
    expect(result).toMatchObject({ kind: 'failed', recorded: ['releasing', 'releasing, failed', 'releasing'] });
    // The ledger has no grant of another job's lock.
    const ofOther = await releasing(own(), { lists: [ours], answers: [failing(false), failing(true)] });
    expect(ofOther).toMatchObject({ kind: 'failed', recorded: ['releasing', 'releasing'] });
  });

  test.each<[string, KnownLock | undefined, string]>([
    ['is released if it is gone', undefined, 'released'],
    ['is released if another lock is on the path, which stays', later, 'released'],
    ['may not be released if it cannot be distinguished from another', timeless, 'failed'],
    ['may not be released if it looks the same', ours, 'failed'],
  ])('a lock without an id whose only request has no response %s', async (_, after, kind) => {
    const events = ['look', 'send once', 'look'];
    expect(await releasing(own(), { lists: [ours, after], answers: [failing(true)] })).toMatchObject({ kind, events });
  });

  test.each<[string, boolean, KnownLock | undefined, string, readonly string[]]>([
    ['leaves the lock of another holder alone, and reports its own as lost', false, later, 'other', ['ended']],
    ['leaves an ambiguous lock alone if its own may be released already', true, timeless, 'ambiguous', []],
    ['reports a lock as absent if it may be released already and is gone', true, undefined, 'absent', ['ended']],
  ])('%s', async (_, mayBeReleased, listed, kind, recorded) => {
    const result = await releasing(own({ key: 'k1' }, mayBeReleased), { lists: [listed] });
    expect(result).toEqual({ kind, events: ['look'], recorded });
  });

  test('records no end of a lock without any proof when another holder has the path', async () => {
    const result = await releasing(own({}, false), { lists: [later] });
    expect(result).toEqual({ kind: 'other', events: ['look'], recorded: [] });
  });

  test('sends a request for an unlisted lock without an id while it lives, and none afterwards', async () => {
    const ended = { grant: { path: hero, lock: { expires_at: iso(0) } }, mayBeReleased: false };
    expect(await releasing(own())).toMatchObject({ kind: 'released', events: ['look', 'send once'] });
    expect(await releasing(ended)).toEqual({ kind: 'absent', events: ['look'], recorded: ['ended'] });
    const left = await releasing(ended, { lists: [timeless] });
    expect(left).toEqual({ kind: 'ambiguous', events: ['look'], recorded: [] });
  });

  test('records that the service refused the release, so that the lock is renewed again', async () => {
    const result = await releasing(own({ key: 'k1', id: 'l1' }), { answers: [failing(false)], isOurs: true });
    expect(result).toMatchObject({ kind: 'failed', recorded: ['releasing', 'releasing, failed'] });
  });

  test.each<[string, ClientResult, readonly string[]]>([
    ['was refused', failing(false), ['releasing', 'releasing, failed']],
    ['found another lock', { kind: 'other', holder: undefined, mayBeDone: false }, ['releasing', 'releasing, failed']],
    ['may have been done', failing(true), ['releasing']],
    ['may have been done before another lock', { kind: 'other', holder: undefined, mayBeDone: true }, ['releasing']],
    ['found no lock', { kind: 'absent' }, ['releasing', 'ended']],
  ])('records for a lock that was handed over whether its release %s', async (_, answer, recorded) => {
    expect(await releasing(own({ id: 'l1' }), { answers: [answer], isOurs: true })).toMatchObject({ recorded });
  });

  test('records that a lock that was handed over was refused by a service that may ignore its id', async () => {
    const lasting = own({ id: 'l1', lastsUntil: machineClock() + 3_600 * second });
    const answer: ClientResult = { kind: 'failed', error: errorOf(refused(403)), mayBeDone: false };
    const recorded = ['releasing', 'releasing, failed'];
    expect(await releasing(lasting, { answers: [answer] })).toMatchObject({ kind: 'failed', recorded });
  });
});

describe('the release of a lock that only its id identifies, by a service that may ignore it', () => {
  const lastsUntil = machineClock() + 3_600 * second;
  const lasting = own({ key: 'a', id: 'l1', lastsUntil });
  const mine = { ...ours, id: 'l1' };

  test('needs no lookup while the lock certainly lasts', async () => {
    expect(await releasing(lasting)).toMatchObject({ kind: 'released', events: ['send l1 once'] });
  });

  test.each<[string, Target]>([
    ['has expired', own({ id: 'l1', lastsUntil, expires_at: iso(second) })],
    ['has expired by the clock of the machine', own({ id: 'l1', lastsUntil: machineClock() + second })],
    ['has no known expiry', own({ id: 'l1' })],
    ['may be released', own({ id: 'l1', lastsUntil }, true)],
  ])('looks first if the lock %s, and sends nothing if the list shows another one', async (_, target) => {
    const events = ['look', 'send l1 once'];
    const { expires_at } = target.grant.lock;
    expect(await releasing(target, { lists: [{ ...mine, expires_at }] })).toMatchObject({ kind: 'released', events });
    expect(await releasing(target, { lists: [withId] })).toMatchObject({ kind: 'other', events: ['look'] });
  });

  test.each<[string, KnownLock | undefined, string, number]>([
    ['is sent again if the list shows its id', mine, 'released', 2],
    ['is not sent again if the list shows another id', withId, 'released', 1],
    ['is not sent again if the list shows no lock', undefined, 'released', 1],
    ['is not sent again if the list shows no id', ours, 'failed', 1],
    ['is not sent again if the list shows its id for a later lock', { ...later, id: 'l1' }, 'failed', 1],
    ['is not sent again if the list shows its id with a later end', { ...mine, expires_at: iso(9e6) }, 'failed', 1],
  ])('%s after a lost response', async (_, after, kind, requests) => {
    const result = await releasing(lasting, { lists: [after], answers: [failing(true), { kind: 'released' }] });
    expect(result.kind).toBe(kind);
    expect(result.events).toEqual(['send l1 once', 'look', 'send l1 once'].slice(0, requests === 1 ? 2 : 3));
  });
});

describe('the release of a found lock', () => {
  test('sends its id, so that a later lock is not released', async () => {
    expect((await releasing(found(withId), { isOurs: true })).events).toEqual(['send l2']);
  });

  test('is sent again only if the list still shows its id', async () => {
    const answers = [failing(true), { kind: 'released' as const }];
    const events = ['send l2 once', 'look', 'send l2 once'];
    expect((await releasing(found(withId), { lists: [withId], answers })).events).toEqual(events);
    const changed = await releasing(found(withId), { lists: [{ ...withId, id: 'l3' }], answers });
    expect(changed).toMatchObject({ kind: 'released', events: events.slice(0, 2) });
  });

  test.each<[string, KnownLock | undefined, string]>([
    ['is gone', undefined, 'released'],
    ['was replaced by another one', later, 'released'],
    ['may be another one', timeless, 'failed'],
  ])('looks up a lock without an id again after its only request was unanswered: it %s', async (_, after, kind) => {
    const result = await releasing(found(ours), { lists: [after], answers: [failing(true)] });
    expect(result).toMatchObject({ kind, events: ['send once', 'look'] });
  });

  test('records the end of a found lock that is gone before the release', async () => {
    const lost: ClientResult = { kind: 'other', holder: undefined };
    const result = await releasing(found(withId), { answers: [lost] });
    expect(result).toMatchObject({ kind: 'other', recorded: ['releasing', 'ended'] });
  });

  test('needs no request if the path is not locked', async () => {
    const result = await releasing({ grant: { path: hero, lock: {} }, mayBeReleased: true, found: { kind: 'absent' } });
    expect(result).toEqual({ kind: 'absent', events: [], recorded: ['ended'] });
  });
});

/** Releases the locks on `p0`, `p1` and so on, as many as this, all at once. */
function releasingMany(
  count: number,
  proof: Partial<GrantedLock>,
  client: Pick<Client, 'listLocks'> & Partial<Client>,
  clock = () => start,
) {
  const service = { serverNow: clock, isOurs: () => false, ...client };
  const release = createRelease(
    // A release uses no other methods.
    { client: service as Client, record: () => undefined, clock, sleep: async () => undefined, random: () => 0.5 },
    { deadline: start + 60 * second },
  );
  const results = Array.from({ length: count }, (_, index) => {
    const lock = { owner: 'grace', acquired_at: iso(1), expires_at: end, ...proof };
    const grant = { path: lockPath(`p${index}`), lock };
    return release({ service: place.service, workspace: game, grant, mayBeReleased: false });
  });
  return Promise.all(results.map((result) => result.then(({ kind }) => kind)));
}

test.each<[string, Partial<GrantedLock>]>([
  ['neither id nor ETag', {}],
  ['only ids', { id: 'l1' }],
])('locks with %s share a list, and those that wait too long for their turn look again', async (_, proof) => {
  let now = start;
  const lists: number[] = [];
  const requests: { readonly path: string; readonly at: number }[] = [];
  let listsOfAll = 0;
  let running = 0;
  let most = 0;
  const client: Pick<Client, 'listLocks' | 'releaseLock'> = {
    async listLocks({ path }) {
      lists.push(now);
      if (path === undefined) listsOfAll += 1;
      await new Promise(setImmediate);
      const lock = { owner: 'grace', acquired_at: iso(1), expires_at: end, ...proof };
      const items = Array.from({ length: 1_000 }, (_each, index) => knownLock(`p${index}`, lock));
      return { items, incomplete: undefined };
    },
    async releaseLock({ path }) {
      requests.push({ path, at: now });
      most = Math.max(most, ++running);
      await Promise.resolve();
      now += 10;
      running -= 1;
      return { kind: 'released' };
    },
  };
  expect(new Set(await releasingMany(1_000, proof, client, () => now))).toEqual(new Set(['released']));
  expect(new Set(requests.map(({ path }) => path)).size).toBe(1_000);
  expect(requests).toHaveLength(1_000);
  expect(most).toBe(64);
  expect(listsOfAll).toBe(1);
  // Locks that wait longer than their list counts are looked up alone, just before their release.
  expect(lists.length).toBeLessThan(600);
  for (const { at } of requests)
    expect(at - (lists.findLast((each) => each <= at) ?? 0)).toBeLessThanOrEqual(5 * second);
});

test('one path whose list is refused keeps no other lock from being released', async () => {
  const released: string[] = [];
  const kinds = await releasingMany(
    20,
    {},
    {
      async listLocks({ path }) {
        if (path === 'p7') throw errorOf(refused(404));
        return { items: [knownLock(path ?? '', { owner: 'grace', acquired_at: iso(1) })], incomplete: undefined };
      },
      async releaseLock({ path }) {
        released.push(path);
        return { kind: 'released' };
      },
    },
  );
  expect(kinds.flatMap((kind, index) => (kind === 'released' ? [] : index))).toEqual([7]);
  expect(released).toHaveLength(19);
});

test('a list of all locks that is not complete does not hide that another job has a path', async () => {
  const kinds = await releasingMany(
    101,
    {},
    {
      async listLocks({ path }) {
        if (path === undefined) return { items: [], incomplete: 'It has more pages.' };
        return { items: [knownLock(path, { owner: 'ada', acquired_at: iso(60) })], incomplete: undefined };
      },
    },
  );
  expect(new Set(kinds)).toEqual(new Set(['other']));
});
