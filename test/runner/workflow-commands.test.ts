import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitLines } from '../support/runner/lines.ts';
import { commandNames, parseCommand } from '../support/runner/workflow-command.ts';

/** The command in a line, in a form that is easy to compare. */
function parse(line: string) {
  const command = parseCommand(line, (name) => commandNames.has(name));
  return command && { name: command.name, ...Object.fromEntries(command.properties), data: command.data };
}

describe('a line is a command', () => {
  test.each<[string, string, object]>([
    ['with a message', '::error::It is held', { name: 'error', data: 'It is held' }],
    ['without a message', '::endgroup::', { name: 'endgroup', data: '' }],
    ['with properties', '::error file=a/b.txt,line=3::x', { name: 'error', file: 'a/b.txt', line: '3', data: 'x' }],
    ['with a colon in a message', '::notice::a::b', { name: 'notice', data: 'a::b' }],
    ['after blanks of any kind', ' \t\u0085\u2003::error::x', { name: 'error', data: 'x' }],
    ['whatever the case', '::Error FILE=a::x', { name: 'error', file: 'a', data: 'x' }],
    ['with escapes in the message', '::error::%25 %0D%0A %3A%2C %250A', { name: 'error', data: '% \r\n %3A%2C %0A' }],
    [
      'with escapes in a property',
      '::error title=a%3Ab%2Cc%0A%253A::x',
      { name: 'error', title: 'a:b,c\n%3A', data: 'x' },
    ],
    ['with escapes in lower case, which are none', '::error::%0a', { name: 'error', data: '%0a' }],
    ['with properties that have no value', '::error title=,file,line==3,::x', { name: 'error', line: '3', data: 'x' }],
    ['with an equals sign in a value', '::error title=a=b=::x', { name: 'error', title: 'a=b=', data: 'x' }],
    ['of the old form', '##[error]It is held', { name: 'error', data: 'It is held' }],
    [
      'of the old form, anywhere in it',
      'Path ##[error file=a;line=3]x',
      { name: 'error', file: 'a', line: '3', data: 'x' },
    ],
    [
      'of the old form, with its own escapes',
      '##[error title=%5D%3B%0A%2C]%5D%3B%25',
      { name: 'error', title: '];\n%2C', data: '];%' },
    ],
    ['of the old form after one of the new that is none', '::nothing::##[error]x', { name: 'error', data: 'x' }],
  ])('%s', (_, line, command) => {
    expect(parse(line)).toEqual(command);
  });

  test('with the data and the properties that the toolkit has escaped, whatever they are', async () => {
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

/** Blanks at the start of the first property and equals signs there are lost; the toolkit does not escape them. */
const trimmed = (title: string): string => title.replace(/^=+/, '');

describe('a stream is split into lines', () => {
  const split = (...chunks: readonly string[]): string[] => {
    const lines: string[] = [];
    const splitter = splitLines((line) => lines.push(line));
    for (const chunk of chunks) splitter.push(chunk);
    splitter.end();
    return lines;
  };

  test.each<[string, string[], string[]]>([
    ['at each kind of line end', ['a\nb\r\nc\rd'], ['a', 'b', 'c', 'd']],
    ['keeping empty lines', ['\n\na\n'], ['', '', 'a']],
    ['wherever a chunk ends', ['a', 'b\r', '\nc', '\r', 'd\n', '\n'], ['ab', 'c', 'd', '']],
    ['not at an empty chunk', ['a\r', '', '\nb'], ['a', 'b']],
  ])('%s', (_, chunks, lines) => {
    expect(split(...chunks)).toEqual(lines);
  });

  test('to the same lines, however it is cut', () => {
    const chunk = fc.string({ unit: fc.constantFrom('a', '\r', '\n') });
    fc.assert(
      fc.property(fc.array(chunk), (chunks) => {
        expect(split(...chunks)).toEqual(split(chunks.join('')));
      }),
    );
  });
});
