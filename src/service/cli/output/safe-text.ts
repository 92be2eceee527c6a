import { safeText } from '../../dashboard/assets/text.js';

const unsafeInJson = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

/** For JSON what safeText() is for text, and it means what it did: `JSON.stringify` escapes only the first 32 characters. */
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
