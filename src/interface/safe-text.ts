/**
 * Characters that move the cursor, or color, reorder or hide text: control characters, invisible formatting (including
 * bidirectional marks), line and paragraph separators, and lone surrogates. A string, because V8 would look up these
 * classes of a literal at each start, used or not.
 */
const unsafe = '[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]';

/** Escapes untrusted text for a terminal or a page. It stays readable, but has no effect. */
export const safeText = (text: string): string =>
  text.replaceAll(new RegExp(unsafe, 'gu'), (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);

const maxQuotedLength = 200;

/** Quotes an untrusted value for the log, so that it can neither end the line nor hide or reorder parts of it. */
export function quoteForLog(value: unknown): string {
  const text =
    typeof value === 'string' ? JSON.stringify(truncated(value)) : truncated(JSON.stringify(value) ?? 'missing');
  return safeText(text);
}

const truncated = (text: string): string =>
  text.length > maxQuotedLength ? `${text.slice(0, maxQuotedLength)}…` : text;
