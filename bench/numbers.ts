/** Three digits that count, and thousands apart: what is noise is not shown. */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return 'none';
  const size = Math.abs(value);
  const digits = Number.isInteger(value) || size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export const withUnit = (value: number, unit: string): string => `${numberText(value)} ${unit}`.trim();
