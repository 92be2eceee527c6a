/**
 * Characters that move a cursor, colour, reorder or hide text: controls, invisible formatting (bidirectional marks
 * among it), line and paragraph separators, and halves of surrogate pairs.
 */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const unsafeInJson = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Text from elsewhere as a terminal may show it: all of it stays readable, and none of it does anything. */
export const safeText = (text: string): string =>
  text.replaceAll(unsafe, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);

/** The same for JSON, which means what it meant before: `JSON.stringify` escapes only the first 32 characters. */
export const safeJson = (json: string): string =>
  json.replaceAll(unsafeInJson, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );

const longestQuote = 100;

/** What a person typed, to be quoted in an answer: without what may be a secret typed in the wrong place. */
export function quoted(text: string): string {
  const harmless = text
    .replaceAll(/\/\/[^\s/]*@/g, '//***@')
    .replaceAll(/\b(wsa_|whsec_)[\w+/=-]+/g, '$1***')
    .replaceAll(/\bpostgres(ql)?:\S*/gi, 'postgres:***');
  const characters = [...harmless];
  const shortened = characters.length > longestQuote ? `${characters.slice(0, longestQuote).join('')}…` : harmless;
  return `"${safeText(shortened)}"`;
}
