import { htmlToText } from './html-to-text.ts';
import { spellingsOf } from './secret-spellings.ts';

/** What moves a cursor, starts a line, reorders or hides text; a run of it, with the blanks around it, is one blank. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu;

const controlCharacter = /[\p{Cc}\p{Cs}]/gu;

/** Of a longer text the rest is not even looked at. */
const mostRead = 16_384;

/** In data, so short a secret would be found in words that have nothing to do with it. */
const shortestInData = 8;

/** Texts of the service, as they may be shown or kept. */
export interface ServiceText {
  /** One line of at most so many characters, without control characters and secrets. */
  line(text: string, most: number): string;
  /** The same of a body that may be a page of HTML. */
  excerpt(body: string, most: number): string;
  /** A text of JSON, in which nothing but secrets is replaced. */
  data(text: string): string;
}

const mask = '***';

const longestFirst = (texts: readonly string[]): readonly string[] =>
  [...new Set(texts)].filter((text) => text !== '').sort((a, b) => b.length - a.length);

const maskAll = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((masked, secret) => masked.replaceAll(secret, mask), text);

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  // Not between the halves of a surrogate pair.
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

export function createServiceText(secrets: readonly string[]): ServiceText {
  const anywhere = longestFirst(secrets.flatMap(spellingsOf));
  const inData = anywhere.filter((secret) => secret.length >= shortestInData);
  // Masked before it is cut: half a secret is one too.
  const line = (text: string, most: number): string =>
    cut(maskAll(text.slice(0, mostRead).replaceAll(unsafe, ' ').trim(), anywhere), most);
  return {
    line,
    excerpt: (body, most) => line(htmlToText(body.slice(0, mostRead)), most),
    data: (text) => maskAll(text, inData),
  };
}

/** Paths and ids are shorter. */
const longestName = 4_096;

/** A path or an id as the service names it: comparable with ours, and without control characters, which none has. */
export const plainName = (name: string): string =>
  cut(name.normalize('NFC').replaceAll(controlCharacter, '\ufffd'), longestName);
