/**
 * Characters that move the cursor, or color, reorder or hide text: control characters, invisible formatting (including
 * bidirectional marks), line and paragraph separators, and lone surrogates.
 */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Escapes untrusted text for a terminal or a page: it stays readable, but has no effects. */
export const safeText = (text: string): string =>
  text.replaceAll(unsafe, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
