import { describe, expect, test } from 'vitest';
import type { Client, KnownLock } from '../../src/client/client.ts';
import type { RequestFailure, ServiceError } from '../../src/client/service-error.ts';
import type { Entry } from '../../src/locks/ledger/entry.ts';
import { type ReleaseTarget, releaseTarget } from '../../src/locks/release.ts';
import { game, hero } from '../client/test-client.ts';
import { end, errorOf, iso, knownLock, place, refused, start } from './samples.ts';

const second = 1_000;
const lostAnswer = errorOf({ kind: 'timeout', limitMs: second });

type ClientResult = Awaited<ReturnType<Client['releaseLock']>>;

interface Service {
  /** Successive lists and responses; the last of each is repeated. */
  readonly lists?: readonly (KnownLock | undefined)[];
  readonly answers?: readonly ClientResult[];
  readonly attempts?: 'once';
}

async function releasing(target: ReleaseTarget, { lists = [], answers = [], attempts }: Service = {}) {
  let now = start;
  const events: string[] = [];
  const entries: Entry[] = [];
  let looks = 0;
  let sends = 0;
  const client: Pick<Client, 'serverNow' | 'listLocks' | 'releaseLock'> = {
    serverNow: () => now,
    async listLocks() {
      events.push('look');
      const lock = lists[Math.min(looks++, lists.length - 1)];
      return { items: lock === undefined ? [] : [lock], incomplete: undefined };
    },
    async releaseLock({ proof, attempts }) {
      events.push(proof === undefined ? `send ${attempts}` : `send ${proof.id}`);
      return answers[Math.min(sends++, answers.length - 1)] ?? { kind: 'released' };
    },
  };
  const result = await releaseTarget(
    {
      // A release uses no other methods.
      client: client as Client,
      clock: () => now,
      random: () => 0.5,
      async sleep(ms) {
        now += ms;
      },
      record: (entry) => entries.push(entry),
    },
    { service: place.service, workspace: game, path: hero, target, attempts },
    { deadline: start + 60 * second },
  );
  const mayBeDone = result.kind === 'failed' ? { mayBeDone: result.mayBeDone } : {};
  return {
    kind: result.kind,
    ...mayBeDone,
    events,
    recorded: entries.map((entry) => entry.kind),
  };
}

const own = (lock: { readonly id?: string; readonly key?: string } = {}, mayBeReleased = false): ReleaseTarget => ({
  kind: 'own',
  lock: { owner: 'grace', acquired_at: iso(1), expires_at: end, ...lock },
  mayBeReleased,
});
const found = (lock: KnownLock): ReleaseTarget => ({ kind: 'found', found: { kind: 'locked', lock } });
const unreached: RequestFailure = {
  kind: 'connection',
  ...{ code: 'ECONNREFUSED', message: 'connect ECONNREFUSED', mayHaveArrived: false, untrusted: false },
};
const failing = (error = lostAnswer): ClientResult => ({ kind: 'failed', error });

const ours = knownLock(hero, { acquired_at: iso(1) });
const later = knownLock(hero, { acquired_at: iso(9 * second) });
const timeless = knownLock(hero);
const withId = { ...ours, id: 'l2' };

describe('the release of a lock of the job', () => {
  test('sends the id without a lookup, and records the start and the end in the ledger', async () => {
    expect(await releasing(own({ id: 'l1' }))).toEqual({
      kind: 'released',
      events: ['send l1'],
      recorded: ['releasing', 'ended'],
    });
  });

  test('looks up a lock without an id before each attempt, and sends one request per attempt', async () => {
    expect(await releasing(own(), { lists: [ours], answers: [failing(), { kind: 'released' }] })).toMatchObject({
      kind: 'released',
      events: ['look', 'send once', 'look', 'send once'],
    });
  });

  test.each<[string, ServiceError, boolean]>([
    ['may be done if there was no response', lostAnswer, true],
    ['may be done if a gateway answered', errorOf(refused(404, { isRecognized: false })), true],
    ['may be done if the service failed', errorOf(refused(502)), true],
    ['is not done if the service refused it', errorOf(refused(429)), false],
    ['is not done if it never arrived', errorOf(unreached), false],
  ])('with a single attempt, a failed release %s', async (_, error, mayBeDone) => {
    for (const lock of [{}, { id: 'l1' }]) {
      const result = await releasing(own(lock), { lists: [ours], answers: [failing(error)], attempts: 'once' });
      expect(result).toMatchObject({ kind: 'failed', mayBeDone });
      expect(result.events.filter((event) => event.startsWith('send'))).toHaveLength(1);
    }
  });

  test('never sends a second request if another lock is on the path', async () => {
    expect(await releasing(own(), { lists: [ours, later], answers: [failing()] })).toEqual({
      kind: 'released',
      events: ['look', 'send once', 'look'],
      recorded: ['releasing', 'ended'],
    });
  });

  test.each([404, 403, 401, 409])(
    'succeeds for a lock without an id if a gateway answers %i and the lock is gone',
    async (status) => {
      const gateway = errorOf(refused(status, { isRecognized: false }));
      expect(await releasing(own(), { lists: [ours, undefined], answers: [failing(gateway)] })).toMatchObject({
        kind: 'released',
        events: ['look', 'send once', 'look'],
      });
    },
  );

  test('does not repeat a request for an ambiguous lock after a gateway responds', async () => {
    const gateway = errorOf(refused(403, { isRecognized: false }));
    expect(await releasing(own(), { lists: [timeless], answers: [failing(gateway)] })).toMatchObject({
      kind: 'ambiguous',
      events: ['look', 'send once', 'look'],
    });
  });

  test.each<[string, boolean, KnownLock | undefined, string, readonly string[]]>([
    ['leaves the lock of another holder alone, and reports its own as lost', false, later, 'other', ['ended']],
    ['leaves an ambiguous lock alone if its own may be released already', true, timeless, 'ambiguous', []],
    ['reports a lock as absent if it may be released already and is gone', true, undefined, 'absent', ['ended']],
  ])('%s', async (_, mayBeReleased, listed, kind, recorded) => {
    const result = await releasing(own({ key: 'k1' }, mayBeReleased), { lists: [listed] });
    expect(result).toEqual({ kind, events: ['look'], recorded: ['releasing', ...recorded] });
  });

  test('records no end of a lock without any proof when another holder has the path', async () => {
    const result = await releasing(own({}, false), { lists: [later] });
    expect(result).toEqual({ kind: 'other', events: ['look'], recorded: ['releasing'] });
  });

  test('sends a request for an unlisted lock without an id while it lives, and none afterwards', async () => {
    const ended = { kind: 'own', lock: { expires_at: iso(0) }, mayBeReleased: false } as const;
    expect(await releasing(own())).toMatchObject({ kind: 'released', events: ['look', 'send once'] });
    expect(await releasing(ended)).toEqual({ kind: 'absent', events: ['look'], recorded: ['releasing', 'ended'] });
    const left = await releasing(ended, { lists: [timeless] });
    expect(left).toEqual({ kind: 'ambiguous', events: ['look'], recorded: ['releasing'] });
  });

  test('keeps a lock in the ledger as one whose release has started if the service refuses the request', async () => {
    const result = await releasing(own({ id: 'l1' }), { answers: [failing(errorOf(refused(403)))] });
    expect(result).toMatchObject({ kind: 'failed', recorded: ['releasing'] });
  });
});

describe('the release of a found lock', () => {
  test('sends its id, so that a later lock is not released', async () => {
    expect((await releasing(found(withId))).events).toEqual(['send l2']);
  });

  test.each<[string, KnownLock | undefined, string]>([
    ['is gone', undefined, 'released'],
    ['was replaced by another one', later, 'released'],
    ['still exists', ours, 'failed'],
    ['may be another one', timeless, 'unanswered'],
  ])('looks up a lock without an id again after its only request was unanswered: it %s', async (_, after, kind) => {
    const result = await releasing(found(ours), { lists: [after], answers: [failing()] });
    expect(result).toMatchObject({ kind, events: ['send once', 'look'] });
  });

  test('records the end of a found lock that is gone before the release', async () => {
    const lost: ClientResult = { kind: 'other', holder: undefined };
    const result = await releasing(found(withId), { answers: [lost] });
    expect(result).toMatchObject({ kind: 'other', recorded: ['releasing', 'ended'] });
  });

  test('needs no request if the path is not locked', async () => {
    const result = await releasing({ kind: 'found', found: { kind: 'absent' } });
    expect(result).toEqual({ kind: 'absent', events: [], recorded: ['ended'] });
  });
});
