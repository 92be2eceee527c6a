import { describe, expect, test } from 'vitest';
import type { Entry } from '../../../src/action/ledger/entry.ts';
import { type ReleaseTarget, releaseLock } from '../../../src/action/locks/release.ts';
import type { Client, KnownLock, WorkspaceId } from '../../../src/client/client.ts';
import { type Failure, ServiceError } from '../../../src/client/service-error.ts';
import { type LockPath, parseLockPath } from '../../../src/interface/lock-path.ts';

const start = Date.UTC(2026, 2, 1, 12);
const second = 1_000;
const iso = (ms: number): string => new Date(start + ms).toISOString();

function pathOf(text: string): LockPath {
  const path = parseLockPath(text);
  if (!path.ok) throw new Error(path.why);
  return path.value;
}

const path = pathOf('Content/Hero.uasset');

const errorOf = (failure: Failure): ServiceError =>
  new ServiceError({ method: 'DELETE', path: '/v1/workspaces/game/locks/x', attempts: 1 }, failure);
const lostAnswer = errorOf({ kind: 'timeout', limitMs: second });

const listed = (acquired: number, id?: string): KnownLock => ({
  path,
  type: 'exclusive',
  id,
  etag: undefined,
  owner: 'release-bot',
  origin: undefined,
  acquired_at: iso(acquired),
  expires_at: iso(3_600 * second),
  fence: undefined,
  raw: {},
});

type ClientResult = Awaited<ReturnType<Client['releaseLock']>>;

/** What the service lists and answers, one after the other; the last of each stays. */
async function releasing(
  target: ReleaseTarget,
  {
    lists = [],
    answers = [],
  }: { readonly lists?: readonly (KnownLock | undefined)[]; readonly answers?: readonly ClientResult[] },
) {
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
  const result = await releaseLock(
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
    { service: 'https://workspaces.example.com/v1', workspace: 'game' as WorkspaceId, path, target },
    { deadline: start + 60 * second },
  );
  const recorded = entries.map((entry) => (entry.kind === 'ended' ? `${entry.kind} ${entry.how}` : entry.kind));
  return { kind: result.kind, events, recorded };
}

const own = (lock: { readonly id?: string } = {}, doubtful = false): ReleaseTarget => ({
  kind: 'own',
  lock: { owner: 'release-bot', acquired_at: iso(1), expires_at: iso(3_600 * second), ...lock },
  doubtful,
});
const found = (lock: KnownLock): ReleaseTarget => ({ kind: 'found', found: { kind: 'locked', lock } });

describe('a lock of ours', () => {
  test('with an id is released by it, without a look, and the ledger says so before and after', async () => {
    expect(await releasing(own({ id: 'l1' }), {})).toEqual({
      kind: 'released',
      events: ['send l1'],
      recorded: ['releasing', 'ended released'],
    });
  });

  test('without one is looked at before each attempt, and each attempt is one request', async () => {
    const answers: readonly ClientResult[] = [{ kind: 'failed', error: lostAnswer }, { kind: 'released' }];
    expect(await releasing(own(), { lists: [listed(1)], answers })).toMatchObject({
      kind: 'released',
      events: ['look', 'send once', 'look', 'send once'],
    });
  });

  test('without one is never asked for again where another is on the path by then', async () => {
    const answers: readonly ClientResult[] = [{ kind: 'failed', error: lostAnswer }];
    expect(await releasing(own(), { lists: [listed(1), listed(9 * second)], answers })).toEqual({
      kind: 'released',
      events: ['look', 'send once', 'look'],
      recorded: ['releasing', 'ended released'],
    });
  });

  test('that somebody else has is left alone, and is lost', async () => {
    expect(await releasing(own(), { lists: [listed(9 * second)] })).toEqual({
      kind: 'lost',
      events: ['look'],
      recorded: ['releasing', 'ended lost'],
    });
  });

  test('that may have been released before is left alone where nothing shows that it is ours', async () => {
    const unknown = { ...listed(1), acquired_at: undefined };
    expect(await releasing(own({}, true), { lists: [unknown] })).toEqual({
      kind: 'left-alone',
      events: ['look'],
      recorded: ['releasing'],
    });
    expect((await releasing(own({}, true), { lists: [undefined] })).kind).toBe('absent');
  });

  test('that the service refuses to release stays in the ledger as one whose release was begun', async () => {
    const refused: Failure = {
      kind: 'refused',
      status: 403,
      requestId: undefined,
      words: undefined,
      fields: [],
      missingScope: undefined,
      retryAfterMs: undefined,
    };
    const answers: readonly ClientResult[] = [{ kind: 'failed', error: errorOf(refused) }];
    expect(await releasing(own({ id: 'l1' }), { answers })).toMatchObject({ kind: 'failed', recorded: ['releasing'] });
  });
});

describe('a lock that was found', () => {
  test('is released by its id, and one that came later is not', async () => {
    expect((await releasing(found(listed(1, 'l2')), {})).events).toEqual(['send l2']);
  });

  test.each<[string, KnownLock | undefined, string]>([
    ['is gone', undefined, 'released'],
    ['has made way for another', listed(9 * second), 'released'],
    ['is there still', listed(1), 'failed'],
    ['cannot be told from what is there', { ...listed(1), acquired_at: undefined }, 'unclear'],
  ])('without one is asked for once; after a lost answer a second look tells, where it %s', async (_, after, kind) => {
    const answers: readonly ClientResult[] = [{ kind: 'failed', error: lostAnswer }];
    expect(await releasing(found(listed(1)), { lists: [after], answers })).toMatchObject({
      kind,
      events: ['send once', 'look'],
    });
  });

  test('and that is gone by the time of its release was never ours to lose', async () => {
    const answers: readonly ClientResult[] = [{ kind: 'lost', holder: undefined, error: lostAnswer }];
    expect((await releasing(found(listed(1, 'l2')), { answers })).recorded).toEqual(['releasing', 'ended absent']);
  });

  test('to be absent needs no request', async () => {
    expect(await releasing({ kind: 'found', found: { kind: 'absent' } }, {})).toEqual({
      kind: 'absent',
      events: [],
      recorded: ['ended absent'],
    });
  });
});
