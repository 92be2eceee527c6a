import { safeText } from '../../dashboard/assets/text.js';
import type { Output } from './log-output.ts';

const unsafeInJson = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

/** For JSON what safeText() is for text, and it means what it did: `JSON.stringify` escapes only the first 32 characters. */
export const safeJson = (json: string): string =>
  json.replaceAll(unsafeInJson, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );

const maxQuoted = 100;

/** What a person typed, without what may be a secret in the wrong place. */
export const withoutTypedSecrets = (text: string): string =>
  text
    .replaceAll(/\/\/[^\s/]*@/g, '//***@')
    .replaceAll(/\b(wsa_|whsec_)[\w+/=-]+/g, '$1***')
    .replaceAll(/\bpostgres(ql)?:\S*/gi, 'postgres:***');

/** What a person typed, to be quoted in an answer. */
export function quoted(text: string): string {
  const harmless = withoutTypedSecrets(text);
  const characters = [...harmless];
  const shortened = characters.length > maxQuoted ? `${characters.slice(0, maxQuoted).join('')}…` : harmless;
  return `"${safeText(shortened)}"`;
}

/** Lines for a person. */
export function printLines(output: Output, lines: readonly string[]): void {
  output.write(lines.map((line) => `${safeText(line)}\n`).join(''));
}

/** One document in one line, for a program. */
export function printJson(output: Output, document: unknown): void {
  output.write(`${safeJson(JSON.stringify(document))}\n`);
}
