import { safeText } from '../../dashboard/assets/text.js';
import type { Output } from './log-output.ts';

/** Columns under their names. How wide they are is decided where they are printed. */
interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Output of a command for people. */
export type OutputBlock = string | Table;

/** Without rows, what to say then. */
export const textTable = (columns: readonly string[], rows: Table['rows'], otherwise = ''): readonly OutputBlock[] =>
  rows.length === 0 ? [otherwise] : [{ columns, rows }];

/** Lines for a person. */
export function printLines(output: Output, lines: readonly OutputBlock[]): void {
  const texts = lines.flatMap((line) =>
    typeof line === 'string' ? [safeText(line)] : tableLines(line, output.columns),
  );
  output.write(texts.map((text) => `${text}\n`).join(''));
}

const gap = '  ';

/** Less says too little. */
const minWidth = 16;

/** Values that users copy into the next command. */
const wholeColumns: readonly string[] = ['ID', 'TOKEN'];

/** A row a line; on a terminal that is too narrow for that, a block of lines for each row. */
export function tableLines({ columns, rows }: Table, terminal = Number.POSITIVE_INFINITY): readonly string[] {
  const cells = rows.map((row) => row.map((cell) => safeText(cell) || '-'));
  const widths = columns.map((name, column) =>
    Math.max(...[columns, ...cells].map((row) => widthOf(row[column] ?? name))),
  );
  const least = widths.map((width, column) =>
    wholeColumns.includes(columns[column] ?? '') ? width : Math.min(width, minWidth),
  );
  const fitted = fitWidths(widths, least, terminal - gap.length * (columns.length - 1));
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
        const shown = shortened(cell, width);
        return shown + ' '.repeat(Math.max(0, width - widthOf(shown)));
      })
      .join(gap)
      .trimEnd(),
  );
}

/** The end of a path says more than its beginning. */
export function shortened(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const characters = [...text];
  if (!text.includes('/')) return `${beginning(characters, width - 1).join('')}…`;
  return `…${beginning(characters.toReversed(), width - 1)
    .toReversed()
    .join('')}`;
}

const widthOf = (text: string): number =>
  [...text].reduce((width, character) => width + widthOfCharacter(character), 0);

/** As many characters as fit into a width. */
function beginning(characters: readonly string[], width: number): readonly string[] {
  let taken = 0;
  const end = characters.findIndex((character) => {
    taken += widthOfCharacter(character);
    return taken > width;
  });
  return end === -1 ? characters : characters.slice(0, end);
}

const wide = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;

/** How many columns of a terminal a character takes, as nearly as that can be known. */
function widthOfCharacter(character: string): number {
  if (/\p{M}/u.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

/** The widest columns give way first; undefined if there is still too little room. */
function fitWidths(widths: readonly number[], least: readonly number[], room: number): readonly number[] | undefined {
  let excess = widths.reduce((sum, width) => sum + width, 0) - room;
  const fitted = [...widths];
  while (excess > 0) {
    const spare = fitted.map((width, column) => (width > (least[column] ?? 0) ? width : 0));
    const widest = Math.max(...spare);
    if (widest === 0) return undefined;
    fitted[spare.indexOf(widest)] = widest - 1;
    excess -= 1;
  }
  return fitted;
}
