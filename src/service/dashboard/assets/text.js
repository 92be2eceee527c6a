/** Texts as pages show them. No DOM: the service uses it as well. */

/**
 * Characters that move a cursor, colour, reorder or hide text: controls, invisible formatting (bidirectional marks
 * among it), line and paragraph separators, and halves of surrogate pairs.
 */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Text from elsewhere as a terminal or a page may show it: all of it stays readable, and none of it does anything.
 * @param {string} text
 */
export const safeText = (text) =>
  text.replaceAll(unsafe, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);

/** @param {number} count @param {string} one @param {string} many */
export const plural = (count, one, many = `${one}s`) => `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

/** In place of a run that a lock does not have. @param {string | null} origin */
export const noRun = (origin) => (origin === null ? 'by hand' : 'unknown');

/** Enough for `runs/1234567890/attempts/1`. */
const shownSegments = 4;

/**
 * The web address of a run, if it is one, without what would make it long.
 * @param {string | null} origin
 * @returns {string | undefined}
 */
export function shortRun(origin) {
  if (origin === null || !URL.canParse(origin)) return undefined;
  const { protocol, host, pathname } = new URL(origin);
  if (protocol !== 'https:' && protocol !== 'http:') return undefined;
  const segments = pathname.split('/').filter((segment) => segment !== '');
  if (segments.length === 0) return host;
  const shown = segments.slice(-shownSegments).join('/');
  return segments.length > shownSegments ? `${host}/…/${shown}` : `${host}/${shown}`;
}
