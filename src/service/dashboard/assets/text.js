/** Texts of pages. Does not use the DOM, because the service imports it as well. */

/** @param {number} count @param {string} one @param {string} many */
export const plural = (count, one, many = `${one}s`) => `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

/** Text for a lock without a run. @param {string | null} origin */
export const noRun = (origin) => (origin === null ? 'by hand' : 'unknown');

/** Enough segments for `runs/1234567890/attempts/1`. */
const shownSegments = 4;

/**
 * The shortened URL of a run; undefined if it is not an http or https URL.
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
