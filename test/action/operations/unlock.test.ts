import { describe, expect, test } from 'vitest';
import { fromHandoff, resolveFromLedger } from '../../../src/action/operations/unlock.ts';
import {
  cautionText,
  statusOf,
  type UnlockResult,
  unlockOutcome,
} from '../../../src/action/operations/unlock-report.ts';
import type { JobLocks } from '../../../src/locks/ledger/history.ts';
import { hero as path } from '../../client/test-client.ts';
import { at, end, grantOf, knownLock, place, start } from '../../locks/samples.ts';

describe('the target of an unlocked path', () => {
  const grant = grantOf(path);
  const empty: JobLocks = {
    held: new Map(),
    lost: [],
    otherWorkspaces: [],
    planned: new Set(),
    cancellations: [],
    stepNames: new Map(),
    knowsOnlyInterface: false,
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

  test.each([named, matched])(
    'is the identified lock of the job if the path is $kind and the job holds it',
    (resolved) => {
      const own = { kind: 'lock', path, lock: { ...grant.lock, key: grant.key, grantedAt: at }, via: resolved.kind };
      expect(resolveFromLedger(resolved, holding(false))).toEqual({ ...own, mayBeReleased: false });
      expect(resolveFromLedger(resolved, holding(true))).toEqual({ ...own, mayBeReleased: true });
      expect(resolveFromLedger(resolved, { ...holding(false), damaged: true })).toEqual({
        ...own,
        mayBeReleased: true,
      });
    },
  );

  const unknown = { kind: 'lock', lock: {}, mayBeReleased: true, via: 'named' };

  test.each([
    ['is nothing to release if only a pattern matches the path', matched, empty, { kind: 'matched' }],
    [
      'is nothing to release if only a pattern matches the path and the ledger is damaged',
      matched,
      { ...empty, damaged: true },
      { kind: 'matched' },
    ],
    [
      'is the lock of someone else if the job asked for the path but does not hold it',
      named,
      { ...empty, lost: [], planned: new Set([path]) },
      { kind: 'not-ours' },
    ],
    ['is the current lock on the path if the job never asked for it', named, empty, { kind: 'path' }],
    ['may be released if the lock may be missing from a damaged ledger', named, { ...empty, damaged: true }, unknown],
  ])('%s', (_, resolved, jobLocks, target) => {
    expect(resolveFromLedger(resolved, jobLocks)).toEqual({ path, ...target });
  });

  test('is the lock that was handed over, with all its details', () => {
    const lock = {
      type: 'exclusive',
      id: 'l1',
      etag: '"l1"',
      owner: 'ada',
      acquired_at: at,
      fence: 7,
      expires_at: end,
    };
    expect(fromHandoff({ path, ...lock })).toEqual({
      kind: 'lock',
      path,
      lock,
      mayBeReleased: false,
      via: 'named',
    });
  });
});

const holder = knownLock(path);
const all: { readonly [Kind in UnlockResult['kind']]: Extract<UnlockResult, { kind: Kind }> } = {
  released: { path, kind: 'released' },
  absent: { path, kind: 'absent' },
  lost: { path, kind: 'lost', holder },
  held: { path, kind: 'held', holder, via: 'named' },
  'not-ours': { path, kind: 'not-ours' },
  ambiguous: { path, kind: 'ambiguous' },
  refused: { path, kind: 'refused', holder, request: 'DELETE /v1/a: 403 Forbidden, request id req-1' },
  unanswered: { path, kind: 'unanswered', reason: 'It lost its connection.' },
  failed: { path, kind: 'failed', reason: 'It lost its connection.' },
};
const { released, absent, lost, held } = all;
const outcomeOf = (...results: readonly UnlockResult[]) =>
  unlockOutcome(results, { ...place, selection: 'paths' }, start);

test('the warning about locks of others says what `force` would do, for one and for several', () => {
  expect(cautionText([held], start)).toMatch(
    / To release it anyway, pass the output `locks` .* or set `force: true`\.$/,
  );
  expect(cautionText([held, all['not-ours']], start)).toMatch(
    / To release them anyway, pass the output `locks` .* or set `force: true`\.$/,
  );
});

describe('the outcome of an unlock', () => {
  test.each([
    ['lost if any lock was lost, whatever else happened', 'lost', Object.values(all)],
    ['lost if one lock was lost and the rest released', 'lost', [released, lost]],
    ['released if some locks were released and others left alone', 'released', [absent, held, released]],
    ['released if some locks were released and others rejected', 'released', [all.refused, released]],
    ['held if a path is held and nothing was released', 'held', [absent, held]],
    ['held if the holder is unknown', 'held', [all['not-ours']]],
    ['held if the current lock is ambiguous', 'held', [all['ambiguous']]],
    ['held if the service rejects the release', 'held', [absent, all.refused]],
    ['held if a release failed, as the lock may still exist', 'held', [all.failed]],
    ['absent if no path was locked', 'absent', [absent, absent]],
    ['absent if a pattern matches no lock of the job', 'absent', []],
  ] as const)('has the status %s', (_, word, results) => {
    expect(statusOf(results)).toBe(word);
  });

  test.each(Object.values(all))(
    'is a failure for the result $kind only if a lock was lost or a release failed',
    (result) => {
      const fails = ['lost', 'refused', 'unanswered', 'failed'].includes(result.kind);
      expect(outcomeOf(result).failures).toHaveLength(fails ? 1 : 0);
    },
  );

  test('does not invent the name of a holder if the service does not name one', () => {
    const outcome = outcomeOf({ ...held, holder: undefined });
    expect(outcome.sentence).toBe('Released 0 locks in game, 1 left alone.');
    expect(JSON.stringify(outcome)).not.toContain('undefined');
  });

  test('explains a refused release in terms of the inputs', () => {
    expect(outcomeOf(all.refused).failures).toEqual([
      'Content/Hero.uasset is held by grace until 13:00 UTC (in 1 h), and the service does not let this token release that lock. To release it anyway, set `force: true` with a token that has the scope `locks:admin` (DELETE /v1/a: 403 Forbidden, request id req-1).',
    ]);
  });
});
