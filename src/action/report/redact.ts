import { type Redact, redact as redactSpelled, spellingsOf } from '../../interface/redact.ts';

/**
 * The last three would start a mention, an issue reference or an emoji, even in HTML: GitHub processes the rendered
 * text.
 */
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

/** Escapes untrusted text for HTML. GitHub does not interpret Markdown inside an HTML block. */
export const inHtml = (text: string): string =>
  oneLine(text).replace(/[&<>"'@#:]/g, (character) => htmlSpelling[character] ?? character);

/** Escapes untrusted text for an attribute in double quotes. */
export const inAttribute = (text: string): string =>
  oneLine(text).replace(/[&<>"']/g, (character) => htmlSpelling[character] ?? character);

/**
 * Every 15 minutes, there is an API token and the identity token that it was exchanged for. This covers more than an
 * hour.
 */
const maxAdded = 12;

/** The secrets of a step: those of its inputs, and the tokens that are issued while it runs. */
export function createSecretRedactor(secrets: readonly string[]) {
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

/** JSON without secrets. They are redacted before encoding, because JSON spells some texts differently. */
export const redactedJson = (value: unknown, redact: Redact): string =>
  JSON.stringify(value, (_, member: unknown) => {
    if (typeof member === 'string') return redact(member);
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).map(([name, each]) => [redact(name), each]));
  });

/** C0, DEL, C1, the two Unicode line breaks, and the bidirectional controls. */
const unprintable = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Cs}/gu;

/**
 * Untrusted text for one log line: it can start neither a new line nor a workflow command. The runner recognizes `::`
 * at the start of a line, and `##[` anywhere (actions/runner, src/Runner.Common/ActionCommand.cs).
 */
export const oneLine = (text: string): string =>
  text
    .replace(unprintable, codeOf)
    .replace(/^(\s*):(?=:)/, '$1: ')
    .replace(/##(?=\[)/g, '# #');

const codeOf = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
