/** A line of RFC 4180. A cell that a spreadsheet would evaluate gets a leading apostrophe, which makes it text. */
export const csvLine = (cells: readonly string[]): string => `${cells.map(cellOf).join(',')}\r\n`;

/**
 * Spreadsheets evaluate a cell that starts with one of these characters, even in quotes: see OWASP, "CSV Injection".
 * The full-width forms, as typed on Japanese keyboards, count as well.
 */
const formula = /^[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/;

const cellOf = (text: string): string => {
  const plain = formula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
};
