import { describe, expect, test } from 'vitest';
import { pictureLines } from '../../../demo/terminal/picture.ts';
import { summaryLines } from '../../../demo/terminal/summary.ts';
import { gantt } from '../../../src/action/post-step/report.ts';
import { summaryHtml } from '../../../src/action/report/summary.ts';

const texts = (summary: string): readonly string[] =>
  summaryLines(summary).map(({ indent, text }) => ' '.repeat(indent) + text);

test('a summary of the action is shown with its heading, its sentence and its tables, as they were meant', () => {
  const table = {
    head: ['Path', 'Until', ''],
    rows: [
      ['a & <b>@#1', '10:00 UTC', 'in 1 h'],
      ["it's", '', ''],
    ],
  };
  expect(texts(summaryHtml('Workspace: lock', 'Locked "a": 2 paths.', [table], (text) => text))).toEqual([
    'Workspace: lock',
    'Locked "a": 2 paths.',
    '  Path        Until',
    '  ──────────  ─────────  ──────',
    '  a & <b>@#1  10:00 UTC  in 1 h',
    "  it's",
  ]);
});

describe('the picture of the locks', () => {
  const bar = { asked: 0, granted: 0, ended: 8_000, released: true };
  const pictured = (...bars: Parameters<typeof gantt>[0]): readonly string[] => {
    const [, code = ''] = /```mermaid\n(.*?)```/s.exec(gantt(bars) ?? '') ?? [];
    return pictureLines(code);
  };

  test('has a bar for each wait and each hold, to scale', () => {
    expect(pictured({ ...bar, path: 'Hero' }, { ...bar, path: 'Maps/Arena', granted: 4_000 })).toEqual([
      `Hero        ${'█'.repeat(32)}  held 8.0 s`,
      `Maps/Arena  ${'░'.repeat(16)}${'█'.repeat(16)}  waited 4.0 s, held 4.0 s`,
    ]);
  });

  test('shows also what was very short, and never more than its width', () => {
    expect(pictured({ ...bar, path: 'a', granted: 7_999 })).toEqual([`a  ${'░'.repeat(31)}█  waited 8.0 s, held 1 ms`]);
    expect(pictured({ ...bar, path: 'a' }, { ...bar, path: 'b', asked: 7_999, granted: 7_999 })).toEqual([
      `a  ${'█'.repeat(32)}  held 8.0 s`,
      `b  ${' '.repeat(31)}█  held 1 ms`,
    ]);
    expect(pictured({ ...bar, path: 'a' }, { ...bar, path: 'b', ended: 1 })).toEqual([
      `a  ${'█'.repeat(32)}  held 8.0 s`,
      `b  █${' '.repeat(31)}  held 1 ms`,
    ]);
  });

  test('that is another one is shown as its text', () => {
    expect(pictureLines('pie\n  "a": 1\n')).toEqual(['pie', '  "a": 1']);
  });

  test('is a part of the summary', () => {
    const picture = gantt([{ ...bar, path: 'Hero' }]) ?? '';
    expect(texts(summaryHtml('T', 's', [], (text) => text) + picture).at(-1)).toContain('held 8.0 s');
  });
});
