/** The offset of the first byte, and the offset after the last. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The single range of a Range header, RFC 9110 section 14.2; undefined if it begins past the end. For several ranges,
 * or an invalid one, the complete range, as that section allows.
 */
export function parseByteRange(header: string, size: number): ByteRange | undefined {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return { start: 0, end: size };
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? undefined : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < start) return { start: 0, end: size };
  return start < size ? { start, end } : undefined;
}
