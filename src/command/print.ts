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

/** Narrower columns would be unreadable. */
const minWidth = 16;

/** Values that users copy into the next command. */
const unshortenedColumns: readonly string[] = ['ID', 'TOKEN'];

/** One line per row; on a terminal that is too narrow, a block of lines per row. */
export function tableLines({ columns, rows }: Table, terminal = Number.POSITIVE_INFINITY): readonly string[] {
  const cells = rows.map((row) => row.map((cell) => safeText(cell) || '-'));
  const widths = columns.map((name, column) =>
    Math.max(...[columns, ...cells].map((row) => widthOf(row[column] ?? name))),
  );
  const minWidths = widths.map((width, column) =>
    unshortenedColumns.includes(columns[column] ?? '') ? width : Math.min(width, minWidth),
  );
  const fitted = fitWidths(widths, minWidths, terminal - gap.length * (columns.length - 1));
  if (fitted === undefined) {
    const names = Math.max(...columns.map(widthOf));
    return cells.flatMap((row, index) => [
      ...(index === 0 ? [] : ['']),
      ...row.map((cell, column) => `${(columns[column] ?? '').padEnd(names)}${gap}${cell}`),
    ]);
  }
  return [columns, ...cells].map((row) =>
    row
      .map((cell, column) => {
        const width = fitted[column] ?? 0;
        const text = shortened(cell, width);
        return text + ' '.repeat(Math.max(0, width - widthOf(text)));
      })
      .join(gap)
      .trimEnd(),
  );
}

/** Shortens other texts at the end, but paths at the start: the end of a path is more specific. */
export function shortened(text: string, width: number): string {
  const excess = widthOf(text) - width;
  if (excess <= 0) return text;
  const characters = [...text];
  const isPath = text.includes('/');
  // One more for the ellipsis.
  for (let left = excess + 1; left > 0; ) {
    left -= widthOfCharacter((isPath ? characters.shift() : characters.pop()) ?? '');
  }
  return isPath ? `…${characters.join('')}` : `${characters.join('')}…`;
}

const widthOf = (text: string): number =>
  [...text].reduce((width, character) => width + widthOfCharacter(character), 0);

const wide = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;

/** Approximate number of terminal columns that a character takes. */
function widthOfCharacter(character: string): number {
  if (/\p{M}/u.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

/** Shrinks the widest columns first. Undefined if the columns do not fit even at their minimum widths. */
function fitWidths(widths: readonly number[], minWidths: readonly number[], room: number) {
  let excess = widths.reduce((sum, width) => sum + width, 0) - room;
  const fitted = [...widths];
  while (excess > 0) {
    const spare = fitted.map((width, column) => (width > (minWidths[column] ?? 0) ? width : 0));
    const widest = Math.max(...spare);
    if (widest === 0) return undefined;
    fitted[spare.indexOf(widest)] = widest - 1;
    excess -= 1;
  }
  return fitted;
}
