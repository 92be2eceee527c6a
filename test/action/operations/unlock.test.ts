import { describe, expect, test } from 'vitest';
import type { JobLocks } from '../../../src/action/ledger/history.ts';
import { fromHandoff, resolveFromLedger } from '../../../src/action/operations/unlock.ts';
import { statusOf, type UnlockResult, unlockOutcome } from '../../../src/action/operations/unlock-report.ts';
import { lockPath, hero as path } from '../../client/test-client.ts';
import { at, end, grantOf, knownLock, place, start } from '../samples.ts';

describe('a path of an unlock', () => {
  const grant = grantOf(path);
  const empty: JobLocks = {
    held: new Map(),
    lost: [],
    otherWorkspaces: [],
    planned: new Set(),
    stepNames: new Map(),
    damaged: false,
  };
  const holding = (releaseStarted: boolean): JobLocks => ({
    ...empty,
    held: new Map([[path, { grant, releaseStarted }]]),
    lost: [],
    planned: new Set([path]),
  });
  const named = { kind: 'named', path } as const;
  const matched = { kind: 'matched', path } as const;

  test.each([named, matched])('that the job holds and that is $kind is its lock, with what proves it', (resolved) => {
    const asked = resolved.kind === 'matched' ? 'by-pattern' : 'by-name';
    const own = { kind: 'lock', path, lock: { ...grant.lock, grantedAt: at }, asked };
    expect(resolveFromLedger(resolved, holding(false))).toEqual({ ...own, doubtful: false });
    expect(resolveFromLedger(resolved, holding(true))).toEqual({ ...own, doubtful: true });
    expect(resolveFromLedger(resolved, { ...holding(false), damaged: true })).toEqual({ ...own, doubtful: true });
  });

  const unknown = { kind: 'lock', lock: {}, doubtful: true, asked: 'by-name' };

  test.each([
    ['only a pattern matches is nobody’s to release', matched, empty, { kind: 'matched' }],
    ['only a pattern matches stays so', matched, { ...empty, damaged: true }, { kind: 'matched' }],
    [
      'the job does not hold is somebody else’s',
      named,
      { ...empty, lost: [], planned: new Set([path]) },
      { kind: 'not-ours' },
    ],
    ['the job never asked for stands for the lock that is found there', named, empty, { kind: 'path' }],
    [
      'a damaged ledger may have lost is released only if nothing speaks against it',
      named,
      { ...empty, damaged: true },
      unknown,
    ],
  ])('that %s', (_, resolved, jobLocks, target) => {
    expect(resolveFromLedger(resolved, jobLocks)).toEqual({ path, ...target });
  });

  test('of a lock that was handed on means that lock, by what it was handed on with', () => {
    const lock = {
      type: 'exclusive',
      id: 'l1',
      etag: '"l1"',
      owner: 'ada',
      acquired_at: at,
      fence: 7,
      expires_at: end,
    };
    expect(fromHandoff({ path, ...lock })).toEqual({ kind: 'lock', path, lock, doubtful: false, asked: 'by-name' });
  });
});

const holder = knownLock(path);
const all: { readonly [Kind in UnlockResult['kind']]: Extract<UnlockResult, { kind: Kind }> } = {
  released: { path, kind: 'released' },
  absent: { path, kind: 'absent' },
  lost: { path, kind: 'lost', holder },
  held: { path, kind: 'held', holder, asked: 'by-name' },
  'not-ours': { path, kind: 'not-ours' },
  ambiguous: { path, kind: 'ambiguous' },
  refused: { path, kind: 'refused', holder, request: 'DELETE /v1/a: 403 Forbidden, request id req-1' },
  unanswered: { path, kind: 'unanswered', reason: 'It lost its connection.' },
  failed: { path, kind: 'failed', reason: 'It lost its connection.' },
};
const { released, absent, lost, held } = all;
const outcomeOf = (...results: readonly UnlockResult[]) =>
  unlockOutcome(results, { ...place, selection: 'paths' }, start);

describe('an unlock', () => {
  test.each([
    ['lost, whatever else happened', 'lost', Object.values(all)],
    ['lost, where the rest was released', 'lost', [released, lost]],
    ['released, where others were left alone', 'released', [absent, held, released]],
    ['released, where something else was refused', 'released', [all.refused, released]],
    ['held, where something is held and nothing was released', 'held', [absent, held]],
    ['held, where who holds it cannot be seen', 'held', [all['not-ours']]],
    ['held, where the lock that is there cannot be told from another', 'held', [all['ambiguous']]],
    ['held, where the service refuses', 'held', [absent, all.refused]],
    ['held, where a release failed: the lock may still be there', 'held', [all.failed]],
    ['absent, where nothing was there', 'absent', [absent, absent]],
    ['absent, where a pattern matches nothing of the job’s', 'absent', []],
  ] as const)('has the status %s', (_, word, results) => {
    expect(statusOf(results)).toBe(word);
  });

  test.each(Object.values(all))(
    'fails by what is $kind only if a lock was lost, or a release did not work',
    (result) => {
      const fails = ['lost', 'refused', 'unanswered', 'failed'].includes(result.kind);
      expect(outcomeOf(result).failures).toHaveLength(fails ? 1 : 0);
    },
  );

  test('names who holds what once each', () => {
    const others = ['grace', 'grace', 'linus'].map((owner, index) => ({
      ...held,
      path: lockPath(`${index}`),
      holder: { ...holder, owner },
    }));
    expect(outcomeOf(...others).sentence).toBe('Nothing was released in game, 3 held by grace, linus.');
  });

  test('advises on a refusal in the words of the inputs', () => {
    expect(outcomeOf(all.refused).failures).toEqual([
      'Content/Hero.uasset is held by grace until 13:00 UTC (in 1 h), and the service does not let this token release that lock. To release it anyway, set `force: true` with a token that has the scope `locks:admin` (DELETE /v1/a: 403 Forbidden, request id req-1).',
    ]);
  });
});
