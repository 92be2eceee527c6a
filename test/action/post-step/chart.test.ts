import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Bar, chartOf, gantt } from '../../../src/action/post-step/chart.ts';
import type { Loss } from '../../../src/locks/ledger/entry.ts';
import { historyOf } from '../../../src/locks/ledger/history.ts';
import { addressOf, asItIs, grantOf, iso, start } from '../../locks/samples.ts';

const minute = 60_000;
const loss: Loss = { kind: 'lost', ...addressOf('a'), step: 's', key: 'a', at: iso(20 * minute) };

describe('the chart', () => {
  const granted = start + 90_000;
  const bar = (path: string, more: Partial<Bar> = {}): Bar => ({
    path,
    requested: start,
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

  test.each<[string, Partial<Bar>, RegExp]>([
    ['leaves out a wait that is too short to see', { granted: start + 999 }, /^(?!.*waited)/s],
    ['draws a bar for a lock that ended at once', { ended: start }, /held.* 12:01:30\.000, 2026-03-01 12:01:30\.001$/m],
    ['shows the end of a long path', { path: `${'folder/'.repeat(30)}Hero.uasset` }, /section ….{20,}\/Hero\.uasset/],
  ])('%s', (_, more, expected) => {
    expect(gantt([bar('a', more)])).toMatch(expected);
  });

  test('ends the bar of a lost lock when it was lost, and that of a held one now', () => {
    const entries = [grantOf('a'), grantOf('b'), { ...loss, ...addressOf('b'), key: 'b', at: iso(3 * minute) }];
    const results = [{ path: 'b', result: 'lost' } as const, { path: 'b', result: 'released' } as const];
    const picture = chartOf(historyOf(entries).granted(), results, start + 5 * minute, asItIs) ?? '';
    const rows = [...picture.matchAll(new RegExp(`section (.)\n {4}(.*) :crit, ${time}, ${time}`, 'g'))];
    const minuteOf = (text = ''): number => (Date.parse(`${text.replace(' ', 'T')}Z`) - start) / minute;
    expect(rows.map(([, path, name, from, to]) => [path, name, minuteOf(from), minuteOf(to)])).toEqual([
      ['a', 'not released', 0, 5],
      ['b', 'lost', 0, 3],
    ]);
  });

  test('leaves out locks without valid times, and is undefined without locks', () => {
    const timeless = bar('a', { granted: Number.NaN });
    expect(gantt([timeless, bar('b')])).not.toContain('section a');
    // Mermaid accepts no dates before 1970, and no years of five digits.
    const [early, late] = [bar('a', { requested: -1 }), bar('a', { ended: Date.UTC(10_000, 0) })];
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
