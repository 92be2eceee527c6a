import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Bar, gantt } from '../../../src/action/post-step/report.ts';

const noon = Date.UTC(2026, 2, 1, 12);

const bar = (path: string, more: Partial<Bar> = {}): Bar => ({
  path,
  asked: noon,
  granted: noon + 90_000,
  ended: noon + 600_000,
  released: true,
  ...more,
});

test('a wait and a hold are two bars in the row of the path', () => {
  expect(gantt([bar('Content/Hero.uasset')])).toBe(
    [
      '```mermaid',
      'gantt',
      '    dateFormat x',
      '    axisFormat %H:%M:%S',
      '    section Content/Hero.uasset',
      `    waited :done, ${noon}, ${noon + 90_000}`,
      `    held :active, ${noon + 90_000}, ${noon + 600_000}`,
      '```',
      '',
    ].join('\n'),
  );
});

test('a wait too short to be seen is left out', () => {
  expect(gantt([bar('a', { granted: noon + 999 })])).not.toContain('waited');
});

test('a lock that was not released stands out', () => {
  expect(gantt([bar('a', { released: false })])).toContain('    not released :crit, ');
});

test('a lock that ended when it began has a bar all the same', () => {
  expect(gantt([bar('a', { ended: noon })])).toContain(`held :active, ${noon + 90_000}, ${noon + 90_001}`);
});

test('what has no times is left out, and nothing is drawn of nothing', () => {
  expect(gantt([bar('a', { granted: Number.NaN }), bar('b')])).not.toContain('section a');
  expect(gantt([bar('a', { granted: Number.NaN })])).toBeUndefined();
  // Mermaid reads no time before 1970.
  expect(gantt([bar('a', { asked: -1 })])).toBeUndefined();
  expect(gantt([])).toBeUndefined();
});

test('of many locks the first are shown, in the order of their paths, and it is said how many there are', () => {
  const bars = Array.from({ length: 1_234 }, (_, index) => bar(`f${String(index).padStart(4, '0')}`)).toReversed();
  const picture = gantt(bars) ?? '';
  expect(picture.match(/section (\S+)/g)).toEqual(
    Array.from({ length: 30 }, (_, index) => `section f00${String(index).padStart(2, '0')}`),
  );
  expect(picture).toMatch(/\n```\n\nThe chart shows the first 30 of 1,234 locks\.\n$/);
});

test('of a long path the end is shown', () => {
  expect(gantt([bar(`${'folder/'.repeat(30)}Hero.uasset`)])).toMatch(/section ….{20,}\/Hero\.uasset\n/);
});

describe('whatever the paths are', () => {
  const anyPath = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('`', '~', '\n', ':', ';', '#', '%', '{', '}', 'a', ' ', ',', '\\', '<', '"') }),
    fc.constantFrom('```\n# Title', '%%{init: {}}%%', 'a:b;c', 'section x', 'click a href "x"', '__proto__'),
  );

  test('each is one row of the picture, and nothing gets out of it', () => {
    fc.assert(
      fc.property(fc.array(anyPath, { minLength: 1, maxLength: 5 }), (paths) => {
        const lines = (gantt(paths.map((path) => bar(path))) ?? '').split('\n');
        expect(lines.slice(0, 4)).toEqual(['```mermaid', 'gantt', '    dateFormat x', '    axisFormat %H:%M:%S']);
        expect(lines.slice(-2)).toEqual(['```', '']);
        const rows = lines.slice(4, -2);
        expect(rows).toHaveLength(3 * paths.length);
        for (const [index, line] of rows.entries()) {
          // What Mermaid takes for the text of a section and of a task, and nothing that it takes for something else.
          if (index % 3 === 0) expect(line).toMatch(/^ {4}section [^:;#%`{}<>"\\]*$/);
          else expect(line).toMatch(/^ {4}(waited :done|held :active), \d+, \d+$/);
        }
      }),
      { numRuns: 300 },
    );
  });
});
