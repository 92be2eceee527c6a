import { redact as redactSpelled, spellingsOf } from '../../interface/redact.ts';

export type Redactor = ReturnType<typeof openRedactor>;

/** The last three would become a mention, an issue or an emoji, even in HTML: GitHub looks at the rendered text. */
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

/** Untrusted text in HTML, where it stays text. GitHub reads no Markdown inside an HTML block. */
export const inHtml = (text: string): string =>
  oneLine(text).replace(/[&<>"'@#:]/g, (character) => htmlSpelling[character] ?? character);

/** The same in an attribute in double quotes. */
export const inAttribute = (text: string): string =>
  oneLine(text).replace(/[&<>"']/g, (character) => htmlSpelling[character] ?? character);

/** A token for a quarter of an hour and what it was exchanged for: those of more than the last hour. */
const maxAdded = 12;

/** The secrets of a step: those of its inputs, and the tokens that it gets while it runs. */
export function openRedactor(secrets: readonly string[]) {
  let spellings = spellingsOf(secrets);
  let added: readonly string[] = [];
  return {
    redact: (text: string): string => redactSpelled(text, spellings),
    add(secret: string): void {
      added = [...added, secret].slice(-maxAdded);
      spellings = spellingsOf([...secrets, ...added]);
    },
  };
}

/** Takes secrets out of a text, however they are spelled there. */
export type Redact = (text: string) => string;

/** JSON without secrets. They are taken out first: a text that has JSON in it is spelled differently inside of JSON. */
export const redactedJson = (value: unknown, redact: Redact): string => JSON.stringify(redactValue(value, redact));

/** C0, DEL, C1, the two Unicode line breaks, and the bidirectional controls. */
const unprintable = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Cs}/gu;

/**
 * Untrusted text as part of one log line: it can start neither another line nor a workflow command. The runner sees one
 * in `::` at the start of a line, and in `##[` anywhere (actions/runner, src/Runner.Common/ActionCommand.cs).
 */
export const oneLine = (text: string): string =>
  text
    .replace(unprintable, codeOf)
    .replace(/^(\s*):(?=:)/, '$1: ')
    .replace(/##(?=\[)/g, '# #');

const codeOf = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

function redactValue(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((each) => redactValue(each, redact));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [redact(name), redactValue(member, redact)]));
}
