/** The same as `../locks/run-link.ts`: what tells a run from others, of its address. */

const shownParts = 4;

/** @param {string} origin @returns {string | undefined} */
export function shortRun(origin) {
  if (!URL.canParse(origin)) return undefined;
  const { protocol, host, pathname } = new URL(origin);
  if (protocol !== 'https:' && protocol !== 'http:') return undefined;
  const parts = pathname.split('/').filter((each) => each !== '');
  const shown = parts.slice(-shownParts).join('/');
  if (parts.length === 0) return host;
  return parts.length > shownParts ? `${host}/…/${shown}` : `${host}/${shown}`;
}
