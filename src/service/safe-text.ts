/**
 * Characters that move a cursor, colour, reorder or hide text: controls, invisible formatting (bidirectional marks
 * among it), line and paragraph separators, and halves of surrogate pairs.
 */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Text from elsewhere as a terminal or a page may show it: all of it stays readable, and none of it does anything. */
export const safeText = (text: string): string =>
  text.replaceAll(unsafe, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
