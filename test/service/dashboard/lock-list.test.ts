import fc from 'fast-check';
import { expect, test } from 'vitest';
import { relativeTime, timeLeft } from '../../../src/service/dashboard/assets/time.js';
import { shortRun } from '../../../src/service/dashboard/elements/lock.ts';
import {
  type ListedLock,
  type ListQuery,
  listUrl,
  matching,
  parseListQuery,
  queryNames,
  sorted,
  sortKeys,
} from '../../../src/service/dashboard/elements/lock-list.ts';

const piece = fc.constantFrom('a', 'B', 'b', 'Hero.uasset', 'é', 'İ', '\u202E', ' ', '10', '2');
const path = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join('/'));
const time = fc.integer({ min: 0, max: 5 });
const lock: fc.Arbitrary<ListedLock> = fc.record({
  path,
  owner: piece,
  origin: fc.option(fc.constantFrom('https://ci.example.com/runs/1', 'https://ci.example.com/runs/2')),
  note: fc.option(piece),
  acquired_at: time,
  expires_at: time,
});
const locks = fc.uniqueArray(lock, { selector: (each) => each.path, maxLength: 20 });
const query: fc.Arbitrary<ListQuery> = fc.record({
  search: fc
    .array(fc.constantFrom('a', 'HERO', 'é', 'runs/1', 'İ', 'zz'), { maxLength: 2 })
    .map((all) => all.join(' ')),
  by: fc.constantFrom(...sortKeys),
  descending: fc.boolean(),
  path: fc.oneof({ weight: 4, arbitrary: fc.constant('') }, { weight: 1, arbitrary: path }),
  page: fc.integer({ min: 1, max: 9 }),
});

test('the query of a list is written to its URL, and read from it again', () => {
  fc.assert(
    fc.property(query, (asked) => {
      const { searchParams } = new URL(listUrl('game', asked), 'http://here.invalid');
      expect(parseListQuery(searchParams)).toEqual({ ...asked, search: asked.search.trim() });
      expect([...searchParams.keys()].every((name) => queryNames.some((known) => known === name))).toBe(true);
    }),
  );
  expect(listUrl('game')).toBe('/workspaces/game/locks');
});

test('a URL with invalid parameters shows the complete list', () => {
  const nonsense = { search: '', sort: '-nothing', path: '', page: '-1' };
  expect(listUrl('game', parseListQuery(new URLSearchParams(nonsense)))).toBe('/workspaces/game/locks');
});

test('a search finds the same locks in the same order before and after sorting', () => {
  fc.assert(
    fc.property(locks, query, (all, asked) => {
      expect(matching(sorted(all, asked), asked)).toEqual(sorted(matching(all, asked), asked));
    }),
  );
});

const three: readonly ListedLock[] = [
  { path: 'b/1', owner: 'ada', origin: null, note: null, acquired_at: 1, expires_at: 9 },
  { path: 'a/2', owner: 'bob', origin: 'https://x.example/2', note: null, acquired_at: 3, expires_at: 7 },
  {
    path: 'c',
    owner: 'bob',
    origin: 'https://x.example/1',
    note: 'Hull repaint',
    acquired_at: 2,
    expires_at: 8,
  },
];

test.each([
  ['', ['b/1', 'a/2', 'c']],
  ['BOB', ['a/2', 'c']],
  ['example/2 A/', ['a/2']],
  ['a/2 ada', []],
  ['bob Repaint', ['c']],
])('a search for "%s" finds each of its words in path, holder, note or run, in any case', (search, paths) => {
  expect(matching(three, { search, path: '' }).map((each) => each.path)).toEqual(paths);
});

test.each([
  ['path', ['a/2', 'b/1', 'c'], ['c', 'b/1', 'a/2']],
  ['holder', ['b/1', 'a/2', 'c'], ['a/2', 'c', 'b/1']],
  ['run', ['b/1', 'c', 'a/2'], ['a/2', 'c', 'b/1']],
  ['since', ['b/1', 'c', 'a/2'], ['a/2', 'c', 'b/1']],
  ['left', ['a/2', 'c', 'b/1'], ['b/1', 'c', 'a/2']],
] as const)('locks are sorted by %s in both directions', (by, up, down) => {
  const order = (descending: boolean) => sorted(three, { by, descending }).map((each) => each.path);
  expect([order(false), order(true)]).toEqual([up, down]);
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
