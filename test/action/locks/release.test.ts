import { describe, expect, test } from 'vitest';
import type { Entry } from '../../../src/action/ledger/entry.ts';
import { type ReleaseTarget, releaseTarget } from '../../../src/action/locks/release.ts';
import type { Client, KnownLock } from '../../../src/client/client.ts';
import { game, hero } from '../../client/test-client.ts';
import { end, errorOf, iso, knownLock, place, refused, start } from '../samples.ts';

const second = 1_000;
const lostAnswer = errorOf({ kind: 'timeout', limitMs: second });

type ClientResult = Awaited<ReturnType<Client['releaseLock']>>;

interface Service {
  /** What it lists, and what it answers, one after the other; the last of each stays. */
  readonly lists?: readonly (KnownLock | undefined)[];
  readonly answers?: readonly ClientResult[];
}

async function releasing(target: ReleaseTarget, { lists = [], answers = [] }: Service = {}) {
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
      return { items: lock === undefined ? [] : [lock], incomplete: undefined, isFiltered: true };
    },
    async releaseLock({ proof, attempts }) {
      events.push(proof === undefined ? `send ${attempts}` : `send ${proof.id}`);
      return answers[Math.min(sends++, answers.length - 1)] ?? { kind: 'released' };
    },
  };
  const { kind } = await releaseTarget(
    {
      // A release asks for nothing else.
      client: client as Client,
      clock: () => now,
      random: () => 0.5,
      async sleep(ms) {
        now += ms;
      },
      record: (entry) => entries.push(entry),
    },
    { service: place.service, workspace: game, path: hero, target },
    { deadline: start + 60 * second },
  );
  return { kind, events, recorded: entries.map((entry) => ('how' in entry ? `ended ${entry.how}` : entry.kind)) };
}

const own = (lock: { readonly id?: string } = {}, doubtful = false): ReleaseTarget => ({
  kind: 'own',
  lock: { owner: 'grace', acquired_at: iso(1), expires_at: end, ...lock },
  doubtful,
});
const found = (lock: KnownLock): ReleaseTarget => ({ kind: 'found', found: { kind: 'locked', lock } });
const failing = (error = lostAnswer): ClientResult => ({ kind: 'failed', error });

const ours = knownLock(hero, { acquired_at: iso(1) });
const later = knownLock(hero, { acquired_at: iso(9 * second) });
const timeless = knownLock(hero);
const withId = { ...ours, id: 'l2' };

describe('a lock of ours', () => {
  test('with an id is released by it, without a look, and the ledger says so before and after', async () => {
    expect(await releasing(own({ id: 'l1' }))).toEqual({
      kind: 'released',
      events: ['send l1'],
      recorded: ['releasing', 'ended released'],
    });
  });

  test('without one is looked at before each attempt, and each attempt is one request', async () => {
    expect(await releasing(own(), { lists: [ours], answers: [failing(), { kind: 'released' }] })).toMatchObject({
      kind: 'released',
      events: ['look', 'send once', 'look', 'send once'],
    });
  });

  test('without one is never asked for again where another is on the path by then', async () => {
    expect(await releasing(own(), { lists: [ours, later], answers: [failing()] })).toEqual({
      kind: 'released',
      events: ['look', 'send once', 'look'],
      recorded: ['releasing', 'ended released'],
    });
  });

  test.each([404, 403, 401, 409])(
    'without one counts as released after a gateway answers %i and it is gone',
    async (status) => {
      const gateway = errorOf(refused(status, { isRecognized: false }));
      expect(await releasing(own(), { lists: [ours, undefined], answers: [failing(gateway)] })).toMatchObject({
        kind: 'released',
        events: ['look', 'send once', 'look'],
      });
    },
  );

  test('that cannot be told from another is not released again after a gateway answers', async () => {
    const gateway = errorOf(refused(403, { isRecognized: false }));
    expect(await releasing(own(), { lists: [timeless], answers: [failing(gateway)] })).toMatchObject({
      kind: 'ambiguous',
      events: ['look', 'send once', 'look'],
    });
  });

  test.each<[string, boolean, KnownLock | undefined, string, readonly string[]]>([
    ['that somebody else has is left alone, and is lost', false, later, 'lost', ['ended lost']],
    ['that may be released and cannot be told from another is left alone', true, timeless, 'ambiguous', []],
    ['that may be released and is not there is absent', true, undefined, 'absent', ['ended absent']],
    ['that is not there is absent, and no request is sent for it', false, undefined, 'absent', ['ended absent']],
  ])('%s', async (_, doubtful, listed, kind, recorded) => {
    const result = await releasing(own({}, doubtful), { lists: [listed] });
    expect(result).toEqual({ kind, events: ['look'], recorded: ['releasing', ...recorded] });
  });

  test('that the service refuses to release stays in the ledger as one whose release was begun', async () => {
    const result = await releasing(own({ id: 'l1' }), { answers: [failing(errorOf(refused(403)))] });
    expect(result).toMatchObject({ kind: 'failed', recorded: ['releasing'] });
  });
});

describe('a lock that was found', () => {
  test('is released by its id, and one that came later is not', async () => {
    expect((await releasing(found(withId))).events).toEqual(['send l2']);
  });

  test.each<[string, KnownLock | undefined, string]>([
    ['is gone', undefined, 'released'],
    ['has made way for another', later, 'released'],
    ['is there still', ours, 'failed'],
    ['cannot be told from what is there', timeless, 'unanswered'],
  ])('without one is asked for once; after a lost answer a second look tells, where it %s', async (_, after, kind) => {
    const result = await releasing(found(ours), { lists: [after], answers: [failing()] });
    expect(result).toMatchObject({ kind, events: ['send once', 'look'] });
  });

  test('reports a found lock as absent, not lost, if it is gone before the release', async () => {
    const lost: ClientResult = { kind: 'lost', holder: undefined, error: lostAnswer };
    expect((await releasing(found(withId), { answers: [lost] })).recorded).toEqual(['releasing', 'ended absent']);
  });

  test('to be absent needs no request', async () => {
    const result = await releasing({ kind: 'found', found: { kind: 'absent' } });
    expect(result).toEqual({ kind: 'absent', events: [], recorded: ['ended absent'] });
  });
});
