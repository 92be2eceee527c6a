import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arrange, folderOf } from '../../../src/service/dashboard/locks/arrange.ts';
import { timeLeft } from '../../../src/service/dashboard/locks/countdown.ts';
import {
  type ListQuery,
  listAddress,
  parseListQuery,
  queryNames,
  sortKeys,
  sortText,
} from '../../../src/service/dashboard/locks/list-query.ts';
import { shortRun } from '../../../src/service/dashboard/locks/run-link.ts';
import { safeText } from '../../../src/service/safe-text.ts';

/** What browsers are handed is JavaScript without types for this side: a test says what it expects of it. */
const asset = (name: string) =>
  import(new URL(`../../../src/service/dashboard/assets/${name}`, import.meta.url).href) as Promise<
    // biome-ignore lint/suspicious/noExplicitAny: see above.
    Record<string, (...given: any[]) => any>
  >;

const piece = fc.constantFrom('a', 'B', 'b', 'Hero.uasset', 'é', 'İ', '\u202E', ' ', '10', '2');
const path = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join('/'));
const time = fc.integer({ min: 0, max: 5 }).map((minute) => new Date(minute * 60_000).toISOString());
const lock = fc.record({
  path,
  owner: piece,
  origin: fc.option(fc.constantFrom('https://ci.example.com/runs/1', 'https://ci.example.com/runs/2')),
  acquired_at: time,
  expires_at: time,
});
const locks = fc.uniqueArray(lock, { selector: (each) => each.path, maxLength: 20 });
const query: fc.Arbitrary<ListQuery> = fc.record({
  search: fc
    .array(fc.constantFrom('a', 'HERO', 'é', 'runs/1', 'İ', 'zz'), { maxLength: 2 })
    .map((all) => all.join(' ')),
  sort: fc.record({ by: fc.constantFrom(...sortKeys), descending: fc.boolean() }),
  group: fc.boolean(),
  path: fc.oneof({ weight: 4, arbitrary: fc.constant('') }, { weight: 1, arbitrary: path }),
  page: fc.integer({ min: 1, max: 9 }),
});

test('an address says what is shown, and what is shown is read from it again', () => {
  fc.assert(
    fc.property(query, (asked) => {
      const { searchParams } = new URL(listAddress('game', asked), 'http://here.invalid');
      expect(parseListQuery((name) => searchParams.get(name) ?? '')).toEqual({ ...asked, search: asked.search.trim() });
      expect([...searchParams.keys()].every((name) => queryNames.some((known) => known === name))).toBe(true);
    }),
  );
  expect(listAddress('game')).toBe('/workspaces/game/locks');
});

test('an address that makes no sense shows the whole list', () => {
  const nonsense = { search: '', sort: '-nothing', group: 'yes', path: '', page: '-1' };
  expect(
    listAddress(
      'game',
      parseListQuery((name) => nonsense[name]),
    ),
  ).toBe('/workspaces/game/locks');
});

test('the browser finds, sorts and groups as the service does', async () => {
  const { matching, sorted, rowsOf, listSearch, parseListQuery: parse } = await asset('lock-list.js');
  if (!matching || !sorted || !rowsOf || !listSearch || !parse) throw new Error('lock-list.js lacks something.');
  fc.assert(
    fc.property(locks, query, (all, asked) => {
      const { search, path: only, group, sort } = asked;
      const there = { search, path: only, group, ...sort };
      const found = matching(sorted(all, there), there);
      expect(found).toEqual(arrange(all, asked));
      const address = listAddress('game', { ...asked, page: 1 });
      expect(`/workspaces/game/locks${listSearch(there)}`).toBe(address);
      expect(parse(new URL(address, 'http://here.invalid').search)).toEqual({ ...there, search: search.trim() });
      const rows = rowsOf(found, group, new Set());
      const keys = rows.map(({ key }: { key: string }) => key);
      expect(new Set(keys).size).toBe(keys.length);
      if (!group) return;
      expect(new Set(found.map((each: { path: string }) => folderOf(each.path))).size).toBe(rows.length - found.length);
    }),
  );
});

test('the browser writes texts, runs and times as the service does', async () => {
  const [text, run, left] = await Promise.all([asset('safe-text.js'), asset('short-run.js'), asset('countdown.js')]);
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.webUrl({ withQueryParameters: true }),
      fc.integer(),
      (any, url, ms) => {
        expect(text['safeText']?.(any)).toBe(safeText(any));
        expect(run['shortRun']?.(url)).toBe(shortRun(url));
        expect(run['shortRun']?.(any)).toBe(shortRun(any));
        expect(left['timeLeft']?.(ms)).toBe(timeLeft(ms));
      },
    ),
  );
});

test('sorts by each column, both ways', () => {
  const at = (minute: number) => new Date(minute * 60_000).toISOString();
  const all = [
    { path: 'b/1', owner: 'ada', origin: null, acquired_at: at(1), expires_at: at(9) },
    { path: 'a/2', owner: 'bob', origin: 'https://x.example/2', acquired_at: at(3), expires_at: at(7) },
    { path: 'c', owner: 'bob', origin: 'https://x.example/1', acquired_at: at(2), expires_at: at(8) },
  ];
  const order = (by: (typeof sortKeys)[number], descending: boolean) =>
    arrange(all, { search: '', sort: { by, descending }, group: false, path: '', page: 1 }).map((each) => each.path);
  expect(Object.fromEntries(sortKeys.map((by) => [by, [order(by, false), order(by, true)]]))).toEqual({
    path: [
      ['a/2', 'b/1', 'c'],
      ['c', 'b/1', 'a/2'],
    ],
    holder: [
      ['b/1', 'a/2', 'c'],
      ['a/2', 'c', 'b/1'],
    ],
    run: [
      ['b/1', 'c', 'a/2'],
      ['a/2', 'c', 'b/1'],
    ],
    since: [
      ['b/1', 'c', 'a/2'],
      ['a/2', 'c', 'b/1'],
    ],
    left: [
      ['a/2', 'c', 'b/1'],
      ['b/1', 'c', 'a/2'],
    ],
  });
  expect(sortText({ by: 'left', descending: true })).toBe('-left');
});

test('a run is shown as its host and the end of its path, and only when it is a web address', () => {
  expect(shortRun('https://github.com/studio/game/actions/runs/1234567890/attempts/1')).toBe(
    'github.com/…/runs/1234567890/attempts/1',
  );
  expect(shortRun('https://ci.example.com:8443/job/7')).toBe('ci.example.com:8443/job/7');
  expect(shortRun('https://ci.example.com')).toBe('ci.example.com');
  expect(shortRun('javascript:alert(1)')).toBeUndefined();
});
