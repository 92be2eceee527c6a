import { describe, expect, test } from 'vitest';
import { checkResult, outputsOf, unclearTexts } from '../../../src/action/operations/check.ts';
import type { LookedUp } from '../../../src/action/operations/job-locks.ts';
import { lockPath, hero as path } from '../../client/test-client.ts';
import { end, iso, knownLock, start } from '../../locks/samples.ts';

const minute = 60_000;
const after = start + 65 * minute;
const listed = knownLock(path, { id: 'l2', owner: 'grace', fence: 7, expires_at: iso(90 * minute) });

const check = (
  state: LookedUp['state'],
  more: Partial<LookedUp> = {},
  expires_at: string | undefined = end,
  own = {},
) =>
  checkResult(
    {
      ...{ ours: { grant: { path, lock: { type: 'exclusive', expires_at, ...own } }, mayBeReleased: false }, state },
      ...{ listed: state === 'absent' ? undefined : listed, reason: undefined, ...more },
    },
    after,
  );

describe('the check of a lock', () => {
  test('outputs the current details of a lock that is verified, and only the end of one that is assumed', () => {
    const { expires_at } = listed;
    expect(check('ours')).toMatchObject({
      result: 'kept',
      until: expires_at,
      kept: { id: 'l2', fence: 7, expires_at },
    });
    const assumed = check('assumed', { listed: { ...listed, id: undefined, owner: undefined } });
    expect(assumed).toMatchObject({ result: 'kept', kept: { type: 'exclusive', expires_at } });
    expect(JSON.stringify(assumed)).not.toMatch(/l2|grace/);
  });

  test('outputs the ETag as the header had it, unless it has changed', () => {
    const etagOf = (etag: string) => check('ours', { listed: { ...listed, etag } }, end, { etag: 'v1' }).kept?.etag;
    expect(['"v1"', '"v2"'].map(etagOf)).toEqual(['v1', '"v2"']);
  });

  test.each(['absent', 'other', 'unknown'] as const)(
    'is a loss if its state is %s after it should have expired',
    (state) => {
      expect(check(state)).toMatchObject({ result: 'lost', holder: state === 'absent' ? 'nobody' : listed });
    },
  );

  test('has no result if the holder of the lock is unknown, or the service did not answer', () => {
    expect(check('unknown', {}, '')).toMatchObject({ result: 'unknown', unclear: expect.stringContaining('verified') });
    expect(check('absent', { reason: 'It is cut.' })).toEqual({ path, result: 'unknown', unclear: 'It is cut.' });
  });

  test.each([
    ['an id', 'unknown', { owner: 'grace' }],
    ['an owner', 'unknown', { id: 'l1' }],
    ['neither', 'kept', { id: 'l1', owner: 'grace' }],
  ])('that only the list identifies by %s is %s', (_, result, own) => {
    expect(check('assumed', {}, end, own)).toMatchObject({ result });
  });

  test('says how a lost lock ended, and who holds the path now', () => {
    expect(check('absent').failure).toMatch(/It expired at 13:00 UTC .* Nobody holds Content\/Hero\.uasset now\.$/);
    expect(check('other').failure).toMatch(/It expired at 13:00 UTC .* Content\/Hero\.uasset is held by grace /);
    expect(check('absent', {}, '').failure).toBe(
      'This job lost its lock on Content/Hero.uasset. Nobody holds Content/Hero.uasset now.',
    );
  });
});

test('a check with an unclear lock has outputs only if another one is lost', () => {
  const lost = { path, result: 'lost' } as const;
  const unclear = { path, result: 'unknown' } as const;
  const kept = { path, result: 'kept', kept: {} } as const;
  expect(outputsOf([kept, unclear], undefined)).toEqual({});
  expect(outputsOf([kept], 'Part of the ledger cannot be read.')).toEqual({});
  expect(outputsOf([kept, unclear, lost], undefined)).toMatchObject({ status: 'lost', count: '1' });
  expect(outputsOf([kept], undefined)).toMatchObject({ status: 'kept', count: '1' });
});

test('the failures of a check group unclear locks by reason', () => {
  const unclear = (name: string, reason: string) =>
    ({ path: lockPath(name), result: 'unknown', unclear: reason }) as const;
  expect(unclearTexts([unclear('a', 'It is cut.'), unclear('b', 'It is down.'), unclear('c', 'It is cut.')])).toEqual([
    'Could not determine whether this job still holds a, c. It is cut.',
    'Could not determine whether this job still holds b. It is down.',
  ]);
});
