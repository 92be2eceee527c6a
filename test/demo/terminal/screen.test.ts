import { describe, expect, test } from 'vitest';
import { createPaint, wantsColour } from '../../../demo/terminal/paint.ts';
import { createScreen, type Screen } from '../../../demo/terminal/screen.ts';

function screenOf(options: { readonly width?: number; readonly coloured?: boolean } = {}) {
  let text = '';
  const screen: Screen = createScreen({
    write(more) {
      text += more;
    },
    paint: createPaint(options.coloured ?? false),
    width: options.width ?? Number.POSITIVE_INFINITY,
  });
  return { screen, text: () => text };
}

test('each line has its speaker in front, also the rest of one that did not fit', () => {
  const { screen, text } = screenOf({ width: 40 });
  screen.say('release', { indent: 2, tone: 'plain', text: '  Content/Hero.uasset until 10:00 UTC' });
  screen.say('nightly', { indent: 0, tone: 'plain', text: 'short' });
  expect(text()).toBe('  release │     Content/Hero.uasset\n  release │       until 10:00 UTC\n  nightly │ short\n');
});

test('where there is no width nothing is wrapped, and no line ends in blanks', () => {
  const { screen, text } = screenOf();
  const long = 'word '.repeat(100).trim();
  screen.say('webhook', { indent: 0, tone: 'good', text: long });
  screen.say('webhook', { indent: 0, tone: 'plain', text: '' });
  expect(text()).toBe(`  webhook │ ${long}\n  webhook │\n`);
});

test('rows of a table are cut off, and not wrapped', () => {
  const { screen, text } = screenOf({ width: 12 });
  screen.lines([{ indent: 2, tone: 'plain', text: 'a  b  c  d  e', isRow: true }]);
  expect(text()).toBe('    a  b  c…\n');
});

test('the parts of the story are counted', () => {
  const { screen, text } = screenOf();
  screen.part('One', 'First.');
  screen.part('Two', 'Second.');
  expect(text()).toBe('\n1 One\n  First.\n\n\n2 Two\n  Second.\n\n');
});

test('colours are where they are wanted, and nowhere else', () => {
  const line = { indent: 0, tone: 'error', text: 'Error: lost' } as const;
  const [plain, coloured] = [screenOf(), screenOf({ coloured: true })];
  for (const { screen } of [plain, coloured]) screen.say('release', line);
  expect(plain.text()).toBe('  release │ Error: lost\n');
  expect(coloured.text()).toContain('\u001b[31mError: lost\u001b[39m');
});

describe('colours are wanted', () => {
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
  ])('on a terminal (%s) with %j: %s', (isTTY, environment, wanted) => {
    expect(wantsColour({ isTTY }, environment)).toBe(wanted);
  });
});
