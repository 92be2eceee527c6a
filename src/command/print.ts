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
const maskSecrets = (text: string): string =>
  text
    .replaceAll(/\/\/[^\s/]*@/g, '//***@')
    .replaceAll(/\b(wsa_|whsec_)[\w+/=-]+/g, '$1***')
    .replaceAll(/\bpostgres(ql)?:\S*/gi, 'postgres:***');

interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Output of a command for people. */
export type OutputBlock = string | Table;

/** A cell for each heading and item. Without items, the text is `ifEmpty`. */
export function textTable<Item>(
  items: readonly Item[],
  columns: Readonly<Record<string, (item: Item) => string | null | undefined>>,
  ifEmpty: string,
): readonly OutputBlock[] {
  if (items.length === 0) return [ifEmpty];
  const rows = items.map((item) => Object.values(columns).map((cell) => cell(item) ?? ''));
  return [{ columns: Object.keys(columns), rows }];
}

export function printLines(output: Output, lines: readonly OutputBlock[]): void {
  const texts = lines.flatMap((line) =>
    typeof line === 'string' ? [safeText(line)] : tableLines(line, output.columns),
  );
  output.write(texts.map((text) => `${text}\n`).join(''));
}

const gap = '  ';

/** One line per row; on a terminal that is too narrow for that, a block of lines per row. */
export function tableLines({ columns, rows }: Table, terminal = Number.POSITIVE_INFINITY): readonly string[] {
  const cells = rows.map((row) => row.map((cell) => safeText(cell) || '-'));
  const widths = columns.map((name, column) =>
    Math.max(...[columns, ...cells].map((row) => widthOf(row[column] ?? name))),
  );
  if (widths.reduce((sum, width) => sum + width + gap.length, -gap.length) <= terminal)
    return [columns, ...cells].map((row) =>
      row
        .map((cell, column) => padded(cell, widths[column]))
        .join(gap)
        .trimEnd(),
    );
  const names = Math.max(...columns.map(widthOf));
  const lines = columns.map((name) => `${padded(name, names)}${gap}`);
  return cells.flatMap((row, index) => [
    ...(index === 0 ? [] : ['']),
    ...row.map((cell, column) => `${lines[column]}${cell}`),
  ]);
}

const padded = (text: string, width = 0): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

const wide = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;

/** Approximate number of terminal columns: marks take none. */
const widthOf = (text: string): number =>
  [...text.replaceAll(/\p{M}/gu, '')].reduce((width, character) => width + (wide.test(character) ? 2 : 1), 0);
