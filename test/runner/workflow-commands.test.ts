import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitLines } from '../support/runner/lines.ts';
import { commandNames, parseCommand } from '../support/runner/workflow-command.ts';

/** The command in a line, flattened for comparison. */
function parse(line: string) {
  const command = parseCommand(line, (name) => commandNames.has(name));
  return command && { name: command.name, ...Object.fromEntries(command.properties), data: command.data };
}

describe('the parser of workflow commands', () => {
  test.each<[string, string, object]>([
    ['accepts a message', '::error::It is held', { name: 'error', data: 'It is held' }],
    ['accepts a missing message', '::endgroup::', { name: 'endgroup', data: '' }],
    ['accepts properties', '::error file=a/b.txt,line=3::x', { name: 'error', file: 'a/b.txt', line: '3', data: 'x' }],
    ['accepts a colon in a message', '::notice::a::b', { name: 'notice', data: 'a::b' }],
    ['accepts blanks of any kind before the command', ' \t\u0085\u2003::error::x', { name: 'error', data: 'x' }],
    ['ignores case', '::Error FILE=a::x', { name: 'error', file: 'a', data: 'x' }],
    [
      'decodes escapes in the message',
      '::error::%25 %0D%0A %3A%2C %250A',
      { name: 'error', data: '% \r\n %3A%2C %0A' },
    ],
    [
      'decodes escapes in a property',
      '::error title=a%3Ab%2Cc%0A%253A::x',
      { name: 'error', title: 'a:b,c\n%3A', data: 'x' },
    ],
    ['does not decode lowercase escapes', '::error::%0a', { name: 'error', data: '%0a' }],
    ['ignores properties without a value', '::error title=,file,line==3,::x', { name: 'error', line: '3', data: 'x' }],
    ['accepts an equals sign in a value', '::error title=a=b=::x', { name: 'error', title: 'a=b=', data: 'x' }],
    ['accepts the old form', '##[error]It is held', { name: 'error', data: 'It is held' }],
    [
      'accepts the old form anywhere in the line',
      'Path ##[error file=a;line=3]x',
      { name: 'error', file: 'a', line: '3', data: 'x' },
    ],
    [
      'decodes the escapes of the old form',
      '##[error title=%5D%3B%0A%2C]%5D%3B%25',
      { name: 'error', title: '];\n%2C', data: '];%' },
    ],
    [
      'accepts the old form after an invalid command in the new form',
      '::nothing::##[error]x',
      { name: 'error', data: 'x' },
    ],
  ])('%s', (_, line, command) => {
    expect(parse(line)).toEqual(command);
  });

  test('decodes any data and properties as escaped by the toolkit', async () => {
    const { issueCommand } = await import(import.meta.resolve('@actions/core').replace(/core\.js$/, 'command.js'));
    const text = fc.string({ unit: 'binary' });
    const written: string[] = [];
    const write = process.stdout.write;
    process.stdout.write = (line) => written.push(String(line)) > 0;
    try {
      fc.assert(
        fc.property(text, text, (data, title) => {
          written.length = 0;
          issueCommand('error', { title, file: 'a' }, data);
          const expected = { name: 'error', file: 'a', ...(trimmed(title) !== '' && { title: trimmed(title) }), data };
          expect(parse(written.join('').replace(/\n$/, ''))).toEqual(expected);
        }),
      );
    } finally {
      process.stdout.write = write;
    }
  });
});

/** Removes leading equals signs, which are lost because the toolkit does not escape them. */
const trimmed = (title: string): string => title.replace(/^=+/, '');

describe('the line splitter', () => {
  const split = (...chunks: readonly string[]): string[] => {
    const lines: string[] = [];
    const splitter = splitLines((line) => lines.push(line));
    for (const chunk of chunks) splitter.push(chunk);
    splitter.end();
    return lines;
  };

  test.each<[string, string[], string[]]>([
    ['splits at each kind of line break', ['a\nb\r\nc\rd'], ['a', 'b', 'c', 'd']],
    ['keeps empty lines', ['\n\na\n'], ['', '', 'a']],
    ['joins lines across chunks', ['a', 'b\r', '\nc', '\r', 'd\n', '\n'], ['ab', 'c', 'd', '']],
    ['ignores empty chunks', ['a\r', '', '\nb'], ['a', 'b']],
  ])('%s', (_, chunks, lines) => {
    expect(split(...chunks)).toEqual(lines);
  });

  test('returns the same lines for any chunk boundaries', () => {
    const chunk = fc.string({ unit: fc.constantFrom('a', '\r', '\n') });
    fc.assert(
      fc.property(fc.array(chunk), (chunks) => {
        expect(split(...chunks)).toEqual(split(chunks.join('')));
      }),
    );
  });
});
