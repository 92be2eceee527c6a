import fc from 'fast-check';
import { expect, test } from 'vitest';
import { relativeTime, timeLeft } from '../../../src/service/dashboard/assets/time.js';
import { shortRun } from '../../../src/service/dashboard/elements/lock.ts';
import {
  countText,
  type ListQuery,
  listUrl,
  parseListQuery,
  queryNames,
} from '../../../src/service/dashboard/elements/lock-list.ts';
import { lockOrders, maxCounted } from '../../../src/service/locks/list-page.ts';

const text = fc.constantFrom('', 'a', 'Hero.uasset', 'é', 'a b', '%_', '10');
const query: fc.Arbitrary<ListQuery> = fc
  .record({
    search: text,
    holder: text,
    path: text,
    by: fc.constantFrom(...lockOrders),
    descending: fc.boolean(),
    after: text,
  })
  .map((asked) => (asked.holder === '' ? asked : { ...asked, by: 'path', descending: false }));

test('the query of a list is written to its URL, and read from it again', () => {
  fc.assert(
    fc.property(query, (asked) => {
      const { searchParams } = new URL(listUrl('game', asked), 'http://here.invalid');
      expect(parseListQuery(searchParams)).toEqual(asked);
      expect([...searchParams.keys()].every((name) => queryNames.some((known) => known === name))).toBe(true);
    }),
  );
  expect(listUrl('game')).toBe('/workspaces/game/locks');
});

test('a URL with invalid parameters shows the complete list', () => {
  const nonsense = { search: '\0', sort: '-nothing', path: '', after: '' };
  expect(listUrl('game', parseListQuery(new URLSearchParams(nonsense)))).toBe('/workspaces/game/locks');
});

test.each([
  [200, 200, '200 locks'],
  [100, 4_956, '100 of 4,956 locks'],
  [100, maxCounted + 1, '100 of more than 10,000 locks'],
])('%i locks of %i are shown as "%s"', (shown, all, text) => {
  expect(countText(shown, all)).toBe(text);
});

test.each([
  [0, 'expired'],
  [1, '1 s'],
  [61_000, '1 min 01 s'],
  [3_600_000, '1 h 00 min'],
  [90_061_000, '1 d 01 h'],
])('a lock with %i ms left shows %s', (milliseconds, text) => {
  expect(timeLeft(milliseconds)).toBe(text);
});

test.each([
  ['https://github.com/studio/game/actions/runs/1234567890/attempts/1', 'github.com/…/runs/1234567890/attempts/1'],
  ['https://ci.example.com:8443/job/7', 'ci.example.com:8443/job/7'],
  ['https://ci.example.com', 'ci.example.com'],
  ['javascript:alert(1)', undefined],
])('the run %s is shown as its host and the end of its path, if it is a web URL', (run, text) => {
  expect(shortRun(run)).toBe(text);
});

test.each([
  [1, 'now'],
  [89, '89 s ago'],
  [90, '2 min ago'],
  [7_199, '120 min ago'],
  [7_200, '2 h ago'],
  [172_800, '2 d ago'],
  [-95, 'in 2 min'],
])('a time %d s ago is shown as %s', (seconds, text) => {
  expect(relativeTime(0, seconds * 1_000)).toBe(text);
});
