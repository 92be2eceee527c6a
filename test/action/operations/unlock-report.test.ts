import { describe, expect, test } from 'vitest';
import { statusOf, type UnlockResult, unlockOutcome } from '../../../src/action/operations/unlock-report.ts';
import type { KnownLock } from '../../../src/client/client.ts';
import { type LockPath, parseLockPath } from '../../../src/interface/lock-path.ts';

function pathOf(text: string): LockPath {
  const path = parseLockPath(text);
  if (!path.ok) throw new Error(path.why);
  return path.value;
}

const path = pathOf('Content/Hero.uasset');
const now = Date.parse('2026-03-01T12:00:00.000Z');

const holder: KnownLock = {
  path,
  type: 'exclusive',
  id: 'lock_1',
  etag: '"lock_1"',
  owner: 'grace',
  origin: undefined,
  acquired_at: undefined,
  expires_at: '2026-03-01T13:00:00.000Z',
  fence: undefined,
  raw: {},
};

const all: { readonly [Kind in UnlockResult['kind']]: Extract<UnlockResult, { kind: Kind }> } = {
  released: { path, kind: 'released' },
  absent: { path, kind: 'absent' },
  lost: { path, kind: 'lost', holder },
  held: { path, kind: 'held', holder, asked: 'by-name' },
  'not-ours': { path, kind: 'not-ours' },
  'left-alone': { path, kind: 'left-alone' },
  refused: { path, kind: 'refused', holder, requestId: 'req-1' },
  unclear: { path, kind: 'unclear', why: 'It lost its connection.' },
  failed: { path, kind: 'failed', why: 'It lost its connection.' },
};
const { released, absent, lost, held } = all;

describe('the status of an unlock', () => {
  test.each([
    ['lost, whatever else happened', 'lost', Object.values(all)],
    ['released, where others were left alone', 'released', [absent, held, released]],
    ['released, where something else was refused', 'released', [all.refused, released]],
    ['held, where something is held and nothing was released', 'held', [absent, held]],
    ['held, where who holds it cannot be seen', 'held', [all['not-ours']]],
    ['held, where the lock that is there cannot be told from another', 'held', [all['left-alone']]],
    ['held, where the service refuses', 'held', [absent, all.refused]],
    ['held, where a release failed: the lock may still be there', 'held', [all.failed]],
    ['absent, where nothing was there', 'absent', [absent, absent]],
    ['absent, where a pattern matches nothing of the job’s', 'absent', []],
    ['lost, where the rest was released', 'lost', [released, lost]],
  ] as const)('is %s', (_, word, results) => {
    expect(statusOf(results)).toBe(word);
  });
});

test.each(Object.values(all))(
  'a result that is $kind fails the step only if a lock was lost, or a release did not work',
  (result) => {
    const { failures } = unlockOutcome([result], 'game', now);
    expect(failures).toHaveLength(['lost', 'refused', 'unclear', 'failed'].includes(result.kind) ? 1 : 0);
  },
);

test('who holds what is named once each', () => {
  const others = ['a', 'b', 'c'].map((name, index) => ({
    ...held,
    path: pathOf(name),
    holder: { ...holder, owner: index === 2 ? 'linus' : 'grace' },
  }));
  expect(unlockOutcome(others, 'game', now).sentence).toBe('Nothing was released in game, 3 held by grace, linus.');
});

test('the advice on a refusal is in the words of the inputs', () => {
  expect(unlockOutcome([all.refused], 'game', now).failures).toEqual([
    'Content/Hero.uasset is held by grace until 13:00 UTC (in 1 h), and the service does not let this token release that lock (403, request id req-1). To release it anyway, set `force: true` with a token that has the scope `locks:admin`.',
  ]);
});
