/** Tables of Markdown, and the places of a page where commands write them. */

export type Row = readonly string[];

/** As a cell or a paragraph that shows it as it is. */
export const plain = (text: string): string =>
  text
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[|<\\]/g, '\\$&');

/** Texts of numbers are aligned to the right. */
export function markdownTable(head: Row, rows: readonly Row[], isNumber: (column: number) => boolean): string {
  const line = (row: Row): string => `| ${row.map(plain).join(' | ')} |`;
  const alignment = head.map((_, column) => (isNumber(column) ? '--:|' : '---|'));
  return [line(head), `|${alignment.join('')}`, ...rows.map(line)].join('\n');
}

/** Replaces the text of the page between the comments `<!-- name: … -->` and `<!-- /name -->`. */
export function withText(page: string, name: string, text: string): string {
  const place = new RegExp(`(<!-- ${name}: [^\\n]* -->\\n).*?(<!-- /${name} -->)`, 's');
  if (!place.test(page)) throw new Error(`The page has no comment <!-- ${name}: … --> to put this text after.`);
  return page.replace(place, (_, begin: string, end: string) => `${begin}\n${text}\n\n${end}`);
}
