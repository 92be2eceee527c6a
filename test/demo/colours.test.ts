import { expect, test } from 'vitest';
import { createPaint, wantsColour } from '../../demo/terminal/paint.ts';

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
])('on a terminal (%s) with %j the demo is in colour: %s', (isTTY, environment, wanted) => {
  expect(wantsColour({ isTTY }, environment)).toBe(wanted);
});

test('colours are where they are wanted, and nowhere else', () => {
  expect(createPaint(false)('error', 'lost')).toBe('lost');
  expect(createPaint(true)('error', 'lost')).toContain('\u001b[31mlost\u001b[39m');
});
