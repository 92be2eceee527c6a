import { expect, test } from 'vitest';
import { createLogLines } from '../../../demo/terminal/log-lines.ts';
import { runHeader } from '../../../demo/terminal/run-header.ts';

const shown = (lines: readonly string[]): readonly string[] => {
  const show = createLogLines();
  return lines.flatMap((line) => {
    const one = show(line);
    return one === undefined ? [] : [`${one.tone}|${' '.repeat(one.indent)}${one.text}`];
  });
};

test('a group has its title in front, and its lines below it', () => {
  expect(shown(['one', '##[group]Locked 2 paths.', '  a', '##[endgroup]', 'two'])).toEqual([
    'plain|one',
    'heading|▼ Locked 2 paths.',
    'plain|    a',
    'plain|two',
  ]);
});

test('what is annotated stands out, also within a group', () => {
  expect(
    shown(['##[error]lost', '##[group]g', '##[warning]late', '##[endgroup]', '##[notice]by the way', '##[debug]why']),
  ).toEqual([
    'error|Error: lost',
    'heading|▼ g',
    'warning|  Warning: late',
    'notice|Notice: by the way',
    'debug|##[debug]why',
  ]);
});

test('a mark that is none, or not at the beginning, is text', () => {
  expect(shown(['##[section]x', 'see ##[error]'])).toEqual(['plain|##[section]x', 'plain|see ##[error]']);
});

test('a step begins with what it was given, further lines of a value below the first', () => {
  expect(runHeader({ operation: 'lock', path: 'a\nb' }, { WORKSPACE_TOKEN: '***' })).toEqual([
    '##[group]Run octo-org/workspace-automation@v1',
    'with:',
    '  operation: lock',
    '  path: a',
    '        b',
    'env:',
    '  WORKSPACE_TOKEN: ***',
    '##[endgroup]',
  ]);
  expect(runHeader({ operation: 'sync' }, {})).not.toContain('env:');
});
