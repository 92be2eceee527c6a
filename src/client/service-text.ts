import { redact, spellingsOf } from '../interface/redact.ts';

/** What moves a cursor, starts a line, reorders or hides text; a run of it, with the blanks around it, is one blank. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu;

/** The rest of a longer text is ignored. */
const maxReadLength = 16_384;

/** In data, so short a secret would be found in words that have nothing to do with it. */
const minDataSecretLength = 8;

/** Texts of the service, as they may be shown or kept. */
export interface ServiceText {
  /** One line of limited length, without control characters and secrets. */
  line(text: string, maxLength: number): string;
  /** The same of a body: of a page of HTML, its text. */
  excerpt(body: string, maxLength: number): string;
  /** A text of JSON, in which nothing but secrets is replaced. */
  data(text: string): string;
}

export function createServiceText(secrets: readonly string[]): ServiceText {
  const anywhere = spellingsOf(secrets);
  const inData = anywhere.filter((secret) => secret.length >= minDataSecretLength);
  const maxSecretLength = anywhere[0]?.length ?? 0;
  const minTextLength = inData.at(-1)?.length ?? Number.POSITIVE_INFINITY;

  /** `goesOn`: the text was cut and may end within a secret, so a possible beginning of one is hidden as well. */
  function shown(text: string, maxLength: number, goesOn: boolean): string {
    // Redacted before it is cut: half a secret is one too.
    const redacted = redact(text.replaceAll(unsafe, ' ').trim(), anywhere);
    return cut(goesOn ? redacted.slice(0, Math.max(0, redacted.length - maxSecretLength)) : redacted, maxLength);
  }

  return {
    line: (text, maxLength) => shown(text.slice(0, maxReadLength), maxLength, text.length > maxReadLength),
    excerpt: (body, maxLength) =>
      shown(htmlToText(body.slice(0, maxReadLength)), maxLength, body.length > maxReadLength),
    // An answer may have millions of texts, most of them shorter than any secret.
    data: (text) => (text.length < minTextLength ? text : redact(text, inData)),
  };
}

const controlCharacter = /[\p{Cc}\p{Cs}]/gu;

/** Paths and ids are shorter. */
const maxNameLength = 4_096;

/**
 * More marks on one letter than any language has (Unicode Standard Annex 15, section 13, "Stream-Safe Text Format"). To
 * put them in order takes time that grows with the square of their number, and a list may have thousands of such names.
 */
const tooManyMarks = /\p{M}{31}/u;

/**
 * A path or an id as the service names it: comparable with ours, and without control characters, which none has. What is
 * too long for either is cut, and what nobody writes is left as it came.
 */
export function plainName(name: string): string {
  // One more, so that a long name is recognized as such.
  const read = name.slice(0, maxNameLength + 1);
  const composed = tooManyMarks.test(read) ? read : read.normalize('NFC');
  return cut(composed.replaceAll(controlCharacter, '\ufffd'), maxNameLength);
}

/** The text of the body of an HTML page; other texts unchanged. */
export function htmlToText(text: string): string {
  if (!looksLikeHtml(text)) return text;
  return text.slice(Math.max(0, text.search(/<body\b/i))).replaceAll(/<[^<>]*>/g, ' ');
}

export const looksLikeHtml = (text: string): boolean => /^\s*<(!doctype|html|head|body|!--)/i.test(text);

function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  // Not between the halves of a surrogate pair.
  return `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
