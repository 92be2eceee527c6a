import { spellingsOf } from '../../client/secret-spellings.ts';

/** C0, DEL, C1, the two Unicode line breaks, and the marks that turn the direction of what follows. */
const unprintable = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Cs}/gu;

const codeOf = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/**
 * Text from outside as a part of one log line: it cannot begin another line, nor a workflow command. The runner takes
 * `::` at the start of a line for one, and `##[` anywhere in it (actions/runner, src/Runner.Common/ActionCommand.cs).
 */
export const oneLine = (text: string): string =>
  text
    .replace(unprintable, codeOf)
    .replace(/^(\s*):(?=:)/, '$1: ')
    .replace(/##(?=\[)/g, '# #');

/** The last three would become a mention, an issue or an emoji, in HTML too: GitHub looks at text as it is shown. */
const htmlSpelling: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '@': '@<wbr>',
  '#': '#<wbr>',
  ':': ':<wbr>',
};

/** Text from outside in HTML, of which it can be no part but text. Markdown is not read inside an HTML block. */
export const inHtml = (text: string): string =>
  oneLine(text).replace(/[&<>"'@#:]/g, (character) => htmlSpelling[character] ?? character);

const mask = '***';

/** V8 refuses a pattern of some ten thousand characters, and repeats it in the error: with the secret in it. */
const maxPatternLength = 10_000;

/** In their order, as many together as one pattern can have; what is too long for any stays as it is. */
function patternsOf(spellings: readonly string[]): readonly (RegExp | string)[] {
  const patterns: (RegExp | string)[] = [];
  let together: string[] = [];
  let length = 0;
  const close = (): void => {
    if (together.length > 0) patterns.push(new RegExp(together.map(RegExp.escape).join('|'), 'g'));
    together = [];
    length = 0;
  };
  for (const spelling of spellings) {
    if (length + spelling.length > maxPatternLength) close();
    if (spelling.length > maxPatternLength) {
      patterns.push(spelling);
      continue;
    }
    together.push(spelling);
    length += spelling.length;
  }
  close();
  return patterns;
}

/** Takes secrets out of a text, however they are spelled there. */
export type Redact = (text: string) => string;

export function createRedactor(secrets: readonly string[]): Redact {
  const spellings = [...new Set(secrets.flatMap(spellingsOf))].filter((spelling) => spelling !== '');
  // The longest first: a shorter one may be a part of it.
  const patterns = patternsOf(spellings.sort((one, other) => other.length - one.length));
  return (text) => patterns.reduce<string>((masked, pattern) => masked.replaceAll(pattern, mask), text);
}

function redactValue(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((each) => redactValue(each, redact));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [redact(name), redactValue(member, redact)]));
}

/** JSON without secrets. They are taken out first: a text that has JSON in it is spelled differently inside of JSON. */
export const redactedJson = (value: unknown, redact: Redact): string => JSON.stringify(redactValue(value, redact));
