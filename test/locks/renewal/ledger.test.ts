import { appendFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Entry } from '../../../src/locks/ledger/entry.ts';
import { historyOf } from '../../../src/locks/ledger/history.ts';
import { followLedger, openLedger } from '../../../src/locks/ledger/ledger.ts';
import { lockPath } from '../../client/test-client.ts';
import { measured } from '../../support/measured.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { addressOf, grantOf, iso, lockOf, place, start } from '../samples.ts';

const job = { ...place, step: 's' };
const grant = (path: string, ms = 0) =>
  grantOf(path, { at: iso(ms), lock: lockOf(path, { expires_at: iso(ms + 10) }) });
const renewed = (ms: number, ...except: readonly string[]): Extract<Entry, { kind: 'renewed' }> => ({
  kind: 'renewed',
  ...job,
  at: iso(ms),
  expires_at: iso(ms + 10),
  ...(except.length > 0 && { except }),
});
const lost = (path: string, ms: number): Entry => ({
  kind: 'lost',
  ...job,
  path: lockPath(path),
  key: path,
  at: iso(ms),
});
const releasing = (path: string, ms: number): Entry => ({ kind: 'releasing', ...addressOf(path), at: iso(ms) });
const unrenewed = (reason: string): Entry => ({ kind: 'unrenewed', ...job, at: iso(0), reason });

const endsOf = (entries: readonly Entry[]) =>
  historyOf(entries).held.map((lock) => Date.parse(lock.grant.lock.expires_at) - start);

describe('the expiry of a lock', () => {
  test.each<[string, readonly Entry[], readonly number[]]>([
    ['is that of its grant if nothing renews it', [grant('a')], [10]],
    ['is that of the last round', [grant('a'), renewed(3), renewed(6)], [16]],
    ['is that of the last round with it', [grant('a'), renewed(3), renewed(6, 'a'), renewed(7, 'a')], [13]],
    ['is that of its grant if all rounds left it out', [grant('a'), renewed(3, 'a'), renewed(6, 'a')], [10]],
    ['is that of a round after those that left it out', [grant('a'), renewed(3, 'a'), renewed(6)], [16]],
    ['is that of its grant if the rounds are older', [renewed(3), grant('a', 5)], [15]],
    ['ignores the rounds of other steps', [grant('a'), { ...renewed(3), step: 't' }], [10]],
    ['is that of the last round after a new ETag', [grant('a'), renewed(3), grant('a', 6), renewed(6)], [16]],
    ['is that of the round before its loss', [grant('a'), renewed(3), lost('a', 6), renewed(6, 'a'), renewed(9)], [13]],
    ['is that of the round before its release started', [grant('a'), renewed(3), releasing('a', 5), renewed(6)], [13]],
  ])('%s', (_, entries, ends) => {
    expect(endsOf(entries)).toEqual(ends);
  });
});

test('the counted lifetime of a lock is that of the last round with it', () => {
  const rounds = [
    { ...renewed(3), renewedUntil: 7 },
    { ...renewed(6, 'b'), renewedUntil: 9 },
  ];
  const { held } = historyOf([grant('a'), grant('b'), ...rounds]);
  expect(held.map((lock) => lock.grant.renewedUntil)).toEqual([9, 7]);
});

test('thousands of renewals of thousands of locks are read in a moment: a post-step has little time', () => {
  const grants = Array.from({ length: 5_000 }, (_, index) => grant(`a${index}`));
  const before = performance.now();
  const ends = endsOf([...grants, ...Array.from({ length: 5_000 }, (_, index) => renewed(index + 1, 'a0'))]);
  measured('milliseconds to read 5,000 renewals of 5,000 locks', performance.now() - before, { atMost: 1_000 });
  expect([ends[0], ends[1], ends.at(-1)]).toEqual([10, 5_010, 5_010]);
});

test('records a loss only for the lock that was lost, even after that lock ended', () => {
  const entries = [grant('a'), grant('b'), lost('a', 6), lost('z', 6)];
  expect(historyOf(entries).held.map(({ loss }) => loss?.path)).toEqual(['a', undefined]);
  const ended: Entry = { kind: 'ended', ...addressOf('a'), at: iso(7) };
  const { held, granted } = historyOf([...entries, ended]);
  expect(held.map(({ grant: { path } }) => path)).toEqual(['b']);
  expect(granted().find(({ grant: { path } }) => path === 'a')?.loss).toMatchObject({ at: iso(6) });
});

test('clears a renewal error with the next round of the same step', () => {
  const troubleAfter = (...entries: readonly Entry[]) => historyOf([grant('a'), ...entries]).held[0]?.renewalError;
  expect(troubleAfter(unrenewed('one'), unrenewed('two'))).toBe('two');
  expect(troubleAfter(unrenewed('one'), renewed(3))).toBeUndefined();
  expect(troubleAfter(unrenewed('one'), { ...renewed(3), step: 't' })).toBe('one');
});

describe('a followed ledger', () => {
  function following() {
    const folder = temporaryFolder();
    const file = join(folder, 'ledger.jsonl');
    const ledger = openLedger(file);
    ledger.append(renewed(1));
    return { file, ledger, follow: followLedger(file) };
  }

  test('returns each line once, and a partial line when it is complete', () => {
    const { file, ledger, follow } = following();
    expect(follow()).toEqual([renewed(1)]);
    expect(follow()).toEqual([]);
    const line = JSON.stringify(lost('ü', 2));
    const bytes = Buffer.from(line);
    // Split in the middle of a character.
    const middle = bytes.indexOf(0xc3) + 1;
    appendFileSync(file, bytes.subarray(0, middle));
    expect(follow()).toEqual([]);
    appendFileSync(file, Buffer.concat([bytes.subarray(middle), Buffer.from('\n')]));
    expect(follow()).toEqual([lost('ü', 2)]);
    appendFileSync(file, '{"kind":"granted"');
    ledger.append(renewed(3), lost('a', 6));
    expect(follow()).toEqual([renewed(3), lost('a', 6)]);
  });

  test('returns a line that is longer than one read, and the lines around it', () => {
    const { file, ledger, follow } = following();
    const long = unrenewed('x'.repeat(1_000_000));
    const text = JSON.stringify(long);
    expect(follow()).toEqual([renewed(1)]);
    appendFileSync(file, text.slice(0, 900_000));
    expect(follow()).toEqual([]);
    appendFileSync(file, `${text.slice(900_000)}\n`);
    ledger.append(releasing('a', 6));
    const entries: Entry[] = [];
    for (let news = follow(); news.length > 0; news = follow()) entries.push(...news);
    expect(entries).toEqual([long, releasing('a', 6)]);
  });

  test('returns the lines after many unreadable ones', () => {
    const { file, ledger, follow } = following();
    expect(follow()).toEqual([renewed(1)]);
    appendFileSync(file, '{"kind":"other"}\n'.repeat(40_000));
    ledger.append(releasing('a', 6));
    expect(follow()).toEqual([releasing('a', 6)]);
    expect(follow()).toEqual([]);
  });

  test('returns no grants, even if grants alone fill several reads', () => {
    const { ledger, follow } = following();
    ledger.append(...Array.from({ length: 1_000 }, (_, index) => grant(`a${index}`)), unrenewed('"kind":"granted"'));
    expect([follow(), follow(), follow()]).toEqual([[renewed(1)], [unrenewed('"kind":"granted"')], []]);
  });

  test.each<[string, (file: string) => void]>([
    ['emptied', (file) => truncateSync(file, 0)],
    ['removed', (file) => rmSync(file)],
  ])('that is %s has no entries, and is read from its beginning once it has new ones', (_, change) => {
    const { file, ledger, follow } = following();
    follow();
    change(file);
    expect(follow()).toEqual([]);
    ledger.append(releasing('a', 6));
    expect(follow()).toEqual([releasing('a', 6)]);
  });
});
