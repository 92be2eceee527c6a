const here = 'http://here.invalid';

/** Where to go on after signing in: an address of the dashboard, whatever the link that led here says. */
export function localPath(text: string): string {
  if (!text.startsWith('/') || !URL.canParse(text, here)) return '/';
  const { origin, pathname, search } = new URL(text, here);
  // "//host" and "/\host" are other hosts to a browser.
  return origin === here && !pathname.startsWith('//') ? pathname + search : '/';
}
