import { safeText } from '../../platform/safe-text.ts';
import type { Output } from './log-output.ts';
import { type OutputBlock, printLines } from './table.ts';

export function quoted(text: string): string {
  const harmless = maskSecrets(text);
  const characters = [...harmless];
  const shortened = characters.length > maxQuoted ? `${characters.slice(0, maxQuoted).join('')}…` : harmless;
  return `"${safeText(shortened)}"`;
}

const maxQuoted = 100;

export interface CommandOutput {
  readonly document: unknown;
  readonly lines: readonly OutputBlock[];
}

export function printOutput(output: Output, json: boolean, { document, lines }: CommandOutput): void {
  if (json) printJson(output, document);
  else printLines(output, lines);
}

export function printJson(output: Output, document: unknown): void {
  output.write(`${safeJson(JSON.stringify(document))}\n`);
}

const unsafeInJson = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Escapes further control characters without changing the value: `JSON.stringify` escapes only those below U+0020. */
export const safeJson = (json: string): string =>
  json.replaceAll(unsafeInJson, (character) =>
    // Escapes each half of a surrogate pair separately.
    character.split('').reduce((text, unit) => `${text}\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`, ''),
  );

/** The user's input with secrets masked, such as a token that was typed as a name. */
export const maskSecrets = (text: string): string =>
  text
    .replaceAll(/\/\/[^\s/]*@/g, '//***@')
    .replaceAll(/\b(wsa_|whsec_)[\w+/=-]+/g, '$1***')
    .replaceAll(/\bpostgres(ql)?:\S*/gi, 'postgres:***');
