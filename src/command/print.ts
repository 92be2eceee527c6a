import { timeCell } from '../interface/format.ts';
import { safeText } from '../interface/safe-text.ts';
import type { Output } from './io.ts';

export const programName = 'workspace-service';

export function quoted(text: string): string {
  const harmless = maskSecrets(text);
  const characters = [...harmless];
  const shortened = characters.length > maxQuoted ? `${characters.slice(0, maxQuoted).join('')}…` : harmless;
  return `"${safeText(shortened)}"`;
}

const maxQuoted = 100;

export function printJson(output: Output, document: unknown): void {
  output.write(`${safeJson(JSON.stringify(document))}\n`);
}

const unsafeInJson = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Escapes the control characters from U+007F on, which `JSON.stringify` does not. The value stays the same. */
export const safeJson = (json: string): string =>
  json.replaceAll(unsafeInJson, (character) =>
    // Escapes each half of a surrogate pair separately.
    character.split('').reduce((text, unit) => `${text}\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`, ''),
  );

/** The user's input with secrets masked, such as a token that was typed as a name. */
const maskSecrets = (text: string): string =>
  text
    .replaceAll(/\/\/[^\s/]*@/g, '//***@')
    .replaceAll(/\b(wsa_|whsec_)[\w+/=-]+/g, '$1***')
    .replaceAll(/\bpostgres(ql)?:\S*/gi, 'postgres:***');

/** One row per item, with a column for each of these members. Without items, the text is `ifEmpty`. */
export function textTable<Item extends object>(
  items: readonly Item[],
  columns: readonly (keyof Item & string)[],
  ifEmpty: string,
): readonly string[] {
  if (items.length === 0) return [ifEmpty];
  const head = columns.map((name) => name.replaceAll('_', ' ').toUpperCase());
  const rows = [head, ...items.map((item) => columns.map((name) => safeText(cellText(item[name])) || '-'))];
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lineOf = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return rows.map((row) => lineOf(row).trimEnd());
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.join(',');
  if (typeof value !== 'object') return isTimestamp.test(String(value)) ? timeCell(String(value)) : String(value);
  return Object.entries(value)
    .map(([name, each]) => `${unambiguous(name)}=${unambiguous(each)}`)
    .join(' ');
}

const isTimestamp = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** A value that looks like another NAME=VALUE pair is written as JSON. */
const unambiguous = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"'=,[\]{}]+$/.test(value) ? value : JSON.stringify(value);

export function printLines(output: Output, lines: readonly string[]): void {
  if (lines.length > 0) output.write(lines.map((line) => `${safeText(line)}\n`).join(''));
}
