/** A line of RFC 4180. What a spreadsheet would calculate begins with an apostrophe, which it takes for text. */
export const csvLine = (cells: readonly string[]): string => `${cells.map(cellOf).join(',')}\r\n`;

/**
 * Spreadsheets take a cell for a formula if it begins with one of these, whatever quotes it is in: OWASP, "CSV Injection".
 * That includes the wide forms, which Japanese keyboards write.
 */
const formula = /^[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/;

const cellOf = (text: string): string => {
  const plain = formula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
};
