import { expect, test } from 'vitest';
import type { KnownLock } from '../../src/client/known-lock.ts';
import { conflictsText, lossText } from '../../src/locks/messages.ts';
import { addressOf, conflictOf, grantOf, iso, knownLock, start } from './samples.ts';

const others = ['b', 'c', 'd', 'e'].map((path, index) => conflictOf(path, 40 - index));
const five = [conflictOf('a', 50), ...others] as const;

test('names the first three holders of several paths, and counts the rest', () => {
  const held = (path: string, clock: string) =>
    `${path} is held by owner of ${path} until ${clock} UTC \\(in \\d+ min\\)`;
  const named = `${held('a', '12:50')}; ${held('b', '12:40')}; ${held('c', '12:39')}; and 2 more`;
  expect(conflictsText(five, start)).toMatch(new RegExp(`^Too few are free: ${named}$`));
});

test.each([
  [1, 1, true, '. You are number 1 of 1 in line'],
  [2, 11, true, '. You are number 2 of 11 in line'],
  [3, 5, true, '. You are number 3 of 5 in line'],
  [11, 1_200, true, '. You are number 11 of 1,200 in line'],
  [1, 1, false, ''],
  [2, 2, false, '. 1 other is waiting for it'],
  [3, 3, false, '. 2 others are waiting for it'],
])('name place %i of %i of a step that waits: %s', (position, length, hasWaited, rest) => {
  const text = (holder: KnownLock | undefined): string =>
    conflictsText([{ ...conflictOf('a', 50), holder, hasWaited, queue: { position, length } }], start);
  expect(text(knownLock('a', { expires_at: undefined }))).toBe(`a is held by grace${rest}`);
  expect(text(undefined)).toBe(`a is free, but others are ahead in line${rest}`);
});

test.each<[string, Parameters<typeof lossText>[1], string]>([
  [
    'the current holder',
    knownLock('a', { acquired_at: iso(60_000) }),
    ' a is held by grace until 13:00 UTC (in 50 min), since 12:01 UTC (9 min ago).',
  ],
  ['that nobody holds the path now', 'nobody', ' Nobody holds a now.'],
  ['the holder at that time if the current one is unknown', undefined, ' It was then held by linus.'],
])('reports when a lock was lost, and %s', (_, found, rest) => {
  const address = { ...addressOf('a'), step: 's', key: 'a' };
  const loss = { kind: 'lost', ...address, at: iso(0), holder: { owner: 'linus' } } as const;
  const text = 'The lock on a was lost at 12:00 UTC (10 min ago), when the service refused to renew it.';
  const lost = { grant: grantOf('a'), mayBeReleased: false, loss };
  expect(lossText(lost, found, start + 600_000)).toBe(text + rest);
  const unknown = { ...lost, loss: { ...loss, holder: undefined } };
  expect(lossText(unknown, undefined, start + 600_000)).toBe(text);
});
