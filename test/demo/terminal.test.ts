import { expect, test } from 'vitest';
import { createLogLines } from '../../demo/terminal/log-lines.ts';
import { createPaint, wantsColour } from '../../demo/terminal/paint.ts';
import { pictureLines } from '../../demo/terminal/picture.ts';
import { createScreen } from '../../demo/terminal/screen.ts';

// What the story shows with tables, pictures and groups is in story.test.ts; this is what its own run never meets.

test('annotations stand out, also within a group, and other marks are text', () => {
  const show = createLogLines();
  const lines = ['##[error]lost', '##[group]g', '##[warning]late', '##[endgroup]', '##[section]x', 'see ##[error]'];
  const shown = lines.map(show).filter((line) => line !== undefined);
  expect(shown.map(({ tone, indent, text }) => `${tone}|${' '.repeat(indent)}${text}`)).toEqual([
    'error|Error: lost',
    'heading|▼ g',
    'warning|  Warning: late',
    'plain|##[section]x',
    'plain|see ##[error]',
  ]);
});

test('on a narrow terminal, lines are wrapped behind their speaker, and rows of tables are cut off', () => {
  let written = '';
  const write = (more: string): void => {
    written += more;
  };
  const screen = createScreen({ write, paint: createPaint(false), width: 40 });
  screen.say('release', { indent: 2, tone: 'plain', text: '  Content/Hero.uasset until 10:00 UTC' });
  screen.lines([{ indent: 2, tone: 'plain', text: 'cell '.repeat(9), isRow: true }]);
  const [first, second, row = ''] = written.split('\n');
  expect([first, second]).toEqual(['  release │     Content/Hero.uasset', '  release │       until 10:00 UTC']);
  expect(row).toMatch(/^ {4}cell .*…$/);
  expect(row.length).toBeLessThanOrEqual(40);
});

test('a picture that is no chart of locks is shown as its text', () => {
  expect(pictureLines('pie\n  "a": 1\n')).toEqual(['pie', '  "a": 1']);
});

test.each([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: '1' }, false],
  [true, { NO_COLOR: '' }, true],
  [true, { TERM: 'dumb' }, false],
  [false, { FORCE_COLOR: '1' }, true],
  [false, { FORCE_COLOR: '' }, true],
  [true, { FORCE_COLOR: '0' }, false],
  [true, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
])('colours are wanted on a terminal (%s) with %j: %s', (isTTY, environment, wanted) => {
  expect(wantsColour({ isTTY }, environment)).toBe(wanted);
});
