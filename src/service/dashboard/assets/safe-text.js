/** The same as `safeText` of the service: all of a text stays readable, and none of it does anything. */

const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** @param {string} text */
export const safeText = (text) =>
  text.replaceAll(unsafe, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
