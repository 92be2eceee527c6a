export const longestOrigin = 2_048;

/** The address of the run that sent a request, from its Referer: only a web address, and nothing secret of it. */
export function originOf(referer: string | undefined): string | null {
  if (referer === undefined || referer.length > longestOrigin || !URL.canParse(referer)) return null;
  const url = new URL(referer);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
  // RFC 9110 section 10.1.3: a Referer has neither of these, so whoever sends them did not mean to.
  url.username = '';
  url.password = '';
  url.hash = '';
  return url.href;
}
