import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Entry, Loss } from '../../../src/action/ledger/entry.ts';
import { type Bar, chartOf, gantt } from '../../../src/action/post-step/chart.ts';
import type { CandidateResult } from '../../../src/action/post-step/claims.ts';
import { asItIs, at, grantOf, iso, lockOf, place, start } from '../samples.ts';

const minute = 60_000;
const loss: Loss = { kind: 'lost', ...place, step: 's', path: 'a', key: 'a', at: iso(20 * minute) };

describe('the chart', () => {
  const granted = start + 90_000;
  const bar = (path: string, more: Partial<Bar> = {}): Bar => ({
    path,
    asked: start,
    granted,
    ended: start + 600_000,
    end: 'released',
    ...more,
  });
  const head = [
    'gantt',
    '    title 2026-03-01 12:00 UTC to 2026-03-01 12:10 UTC',
    '    dateFormat YYYY-MM-DD HH:mm:ss.SSS',
    '    axisFormat %H:%M:%S',
  ];
  const time = '(\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3})';
  const msOf = (text = ''): number => Date.parse(`${text.replace(' ', 'T')}Z`);

  test('draws the wait and the hold as two bars in the row of the path, in UTC', () => {
    const column = '%%{init: {"gantt": {"leftPadding": 172}}}%%';
    const section = '    section Content/Hero.uasset';
    const bars = [
      '    waited :done, 2026-03-01 12:00:00.000, 2026-03-01 12:01:30.000',
      '    held :active, 2026-03-01 12:01:30.000, 2026-03-01 12:10:00.000',
    ];
    const lines = ['```mermaid', column, ...head, section, ...bars, '```', ''];
    expect(gantt([bar('Content/Hero.uasset')])).toBe(lines.join('\n'));
  });

  test('has one time in its title if it starts and ends within a minute', () => {
    expect(gantt([bar('a', { granted: start, ended: start + 2_000 })])).toContain('    title 2026-03-01 12:00 UTC\n');
  });

  const letters = fc.constantFrom('W', 'm', '_', 'i', '/', '漢', 'é');

  test('fits its names next to the bars, and never repeats a name', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: letters, maxLength: 80 }), { minLength: 1, maxLength: 6 }), (paths) => {
        const picture = gantt(paths.map((path) => bar(path))) ?? '';
        const [, width] = /^%%\{init: \{"gantt": \{"leftPadding": (\d+)\}\}\}%%$/m.exec(picture) ?? [];
        const names = [...picture.matchAll(/^ {4}section (.*)$/gm)].map(([, name = '']) => name);
        expect(new Set(names).size).toBe(paths.length);
        for (const name of names) {
          // A name has ten pixels of padding. At font size 11, Latin letters are 8 pixels wide on average, and others
          // 11.
          const wide = [...name].filter((letter) => letter === '漢').length;
          expect(Number(width)).toBeGreaterThanOrEqual(10 + 8 * (name.length - wide) + 11 * wide);
          expect(name.length).toBeLessThan(42);
        }
      }),
    );
  });

  test.each<[string, Partial<Bar>, RegExp]>([
    ['leaves out a wait that is too short to see', { granted: start + 999 }, /^(?!.*waited)/s],
    ['highlights a lock that was not released', { end: 'not released' }, /\n {4}not released :crit, /],
    ['draws a lost lock as lost', { end: 'lost' }, /\n {4}lost :crit, /],
    ['draws a bar for a lock that ended at once', { ended: start }, /held.* 12:01:30\.000, 2026-03-01 12:01:30\.001$/m],
    ['shows the end of a long path', { path: `${'folder/'.repeat(30)}Hero.uasset` }, /section ….{20,}\/Hero\.uasset/],
  ])('%s', (_, more, expected) => {
    expect(gantt([bar('a', more)])).toMatch(expected);
  });

  describe('the chart of renewed locks', () => {
    const marksOf = (renewals: readonly number[], more: Partial<Bar> = {}) => {
      const picture = gantt([bar('a', { renewals: () => renewals, ...more })]) ?? '';
      const part = new RegExp(`^ {4}(held|renewed|not released) :(active|crit), ${time}, ${time}$`, 'gm');
      const parts = [...picture.matchAll(part)];
      return { picture, parts: parts.map(([, name, kind, from, to]) => [name, kind, msOf(from), msOf(to)] as const) };
    };

    test('has a mark for each renewal within the bar, all in one row', () => {
      const ended = start + 600_000;
      const times = [granted, granted + 2, ended, ended + 1, granted - 1, granted + 1, Number.NaN];
      const { picture, parts } = marksOf(times);
      expect(picture).toMatch(/^```mermaid\n---\ndisplayMode: compact\n---\n%%\{init: .*\}%%\ngantt\n/);
      const rest = [
        ['renewed', 'active', granted + 1, granted + 2],
        ['renewed', 'active', granted + 2, ended],
      ];
      expect(parts).toEqual([['held', 'active', granted, granted + 1], ...rest]);
      expect(marksOf([granted + 1], { end: 'not released' }).parts.map(([name, kind]) => [name, kind])).toEqual([
        ['not released', 'crit'],
        ['renewed', 'crit'],
      ]);
    });

    test('has at most 8 marks, in order and evenly spaced, whatever the times are', () => {
      fc.assert(
        fc.property(fc.array(fc.integer({ min: -1_000, max: 601_000 }), { maxLength: 200 }), (times) => {
          const { parts } = marksOf(times.map((time) => start + time));
          expect(parts.length).toBeLessThanOrEqual(9);
          for (const [index, [, , from, to]] of parts.entries()) {
            expect(to).toBeGreaterThanOrEqual(from);
            expect(from).toBe(parts[index - 1]?.[3] ?? granted);
          }
          expect(parts.at(-1)?.[3]).toBe(start + 600_000);
        }),
      );
      const { parts } = marksOf(Array.from({ length: 480 }, (_, index) => granted + 1_000 * (index + 1)));
      expect(new Set(parts.slice(0, -1).map(([, , from, to]) => to - from))).toEqual(new Set([60_000]));
    });

    test('has no marks if nothing was renewed', () => {
      for (const renewals of [[], [granted - 1]]) expect(marksOf(renewals).picture).toBe(gantt([bar('a')]));
    });

    test('shows no renewal after a lock was lost, and none of a round that left it out', () => {
      const round = (ms: number, except?: readonly string[]): Entry => ({
        kind: 'renewed',
        ...place,
        step: 's',
        at: iso(ms),
        expires_at: at,
        except,
      });
      const again = (path: string, ms: number) =>
        grantOf(path, { at: iso(ms), lock: lockOf(path, { etag: `"v${ms}"` }) });
      const rounds = [round(minute), round(2 * minute, ['a']), { ...round(3 * minute), step: 't' }, round(4 * minute)];
      const entries = [
        grantOf('a'),
        grantOf('b'),
        again('b', minute),
        ...rounds,
        { ...loss, path: 'b', key: 'b', at: iso(3 * minute) },
      ];
      const ledger = { file: '', append: () => undefined, read: () => ({ entries, damaged: 0 }) };
      const results: readonly CandidateResult[] = [
        { kind: 'released', grant: grantOf('a') },
        { kind: 'lost', grant: grantOf('b'), holder: 'nobody' },
      ];
      const picture = chartOf(ledger, { step: 's', results, now: start + 5 * minute, redact: asItIs }) ?? '';
      expect(picture).toMatch(/section b\n {4}lost :crit, /);
      const ends = (path: string) =>
        (picture.split(`section ${path}\n`)[1]?.split('section')[0] ?? '').matchAll(
          new RegExp(`, ${time}, ${time}`, 'g'),
        );
      const minutes = (path: string) =>
        [...ends(path)].map(([, from, to]) => [from, to].map((each) => (msOf(each) - start) / minute));
      expect(minutes('a')).toEqual([
        [0, 1],
        [1, 4],
        [4, 5],
      ]);
      expect(minutes('b')).toEqual([
        [0, 1],
        [1, 2],
        [2, 3],
      ]);
    });
  });

  test('leaves out locks without valid times, and is undefined without locks', () => {
    const timeless = bar('a', { granted: Number.NaN });
    expect(gantt([timeless, bar('b')])).not.toContain('section a');
    // Mermaid accepts no dates before 1970, and no years of five digits.
    const [early, late] = [bar('a', { asked: -1 }), bar('a', { ended: Date.UTC(10_000, 0) })];
    for (const bars of [[timeless], [early], [late], []]) expect(gantt(bars)).toBeUndefined();
  });

  test('shows the first of many locks in the order of their paths, and the number of locks', () => {
    const names = Array.from({ length: 1_234 }, (_, index) => `f${String(index).padStart(4, '0')}`);
    const picture = gantt(names.toReversed().map((name) => bar(name))) ?? '';
    expect(picture.match(/section (\S+)/g)).toEqual(names.slice(0, 30).map((name) => `section ${name}`));
    expect(picture).toMatch(/\n```\n\nThe chart shows the first 30 of 1,234 locks\.\n$/);
  });

  test('has one row for each path, and no path can break out of its row', () => {
    const unit = fc.constantFrom('`', '~', '\n', ':', ';', '#', '%', '{', '}', 'a', ' ', ',', '\\', '<', '"');
    const anyPath = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit }),
      fc.constantFrom('```\n# Title', '%%{init: {}}%%', 'a:b;c', 'section x', 'click a href "x"', '__proto__'),
    );
    fc.assert(
      fc.property(fc.array(anyPath, { minLength: 1, maxLength: 5 }), (paths) => {
        const lines = (gantt(paths.map((path) => bar(path))) ?? '').split('\n');
        const [fence, column, ...rest] = lines;
        expect([fence, ...rest.slice(0, 4)]).toEqual(['```mermaid', ...head]);
        expect(column).toMatch(/^%%\{init: \{"gantt": \{"leftPadding": \d+\}\}\}%%$/);
        expect(lines.slice(-2)).toEqual(['```', '']);
        const rows = rest.slice(4, -2);
        expect(rows).toHaveLength(3 * paths.length);
        for (const [index, line] of rows.entries()) {
          // Only characters that Mermaid reads as the text of a section or a task.
          if (index % 3 === 0) expect(line).toMatch(/^ {4}section [^:;#%`{}<>"\\]*$/);
          else expect(line).toMatch(new RegExp(`^ {4}(waited :done|held :active), ${time}, ${time}$`));
        }
      }),
      { numRuns: 300 },
    );
  });
});
