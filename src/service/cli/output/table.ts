import { safeText } from '../../dashboard/assets/text.js';

const wide = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;

/** How many columns of a terminal the text takes, as nearly as that can be known. */
const widthOf = (text: string): number =>
  [...text].reduce((width, character) => {
    if (/\p{M}/u.test(character)) return width;
    return width + (wide.test(character) ? 2 : 1);
  }, 0);

const gap = '  ';
const nothing = '-';

/** Aligned columns under their names, a row a line however long it gets. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const cells = [columns, ...rows.map((row) => row.map((cell) => safeText(cell) || nothing))];
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => widthOf(row[column] ?? ''))));
  return cells.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)))
      .join(gap)
      .trimEnd(),
  );
}
