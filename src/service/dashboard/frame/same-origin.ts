import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../../../interface/loopback.ts';
import { Refusal } from '../../contract/problem.ts';

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/**
 * A browser says where a form comes from, and no page can make it say something else. `Sec-Fetch-Site` compares what
 * the browser itself sees; it is left out on plain http beyond the machine, and there `Origin` is held against `Host`,
 * which a proxy in front may have changed where it speaks https.
 */
function isSameOrigin({ headers, headersDistinct }: IncomingMessage): boolean {
  const { origin } = headers;
  if (origin === undefined) return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const host = hostOf(origin);
  return host !== undefined && host === headersDistinct['host']?.[0]?.toLowerCase();
}

/** Refuses a form that a page of somebody else has made the browser send. */
export function refuseOtherSites(incoming: IncomingMessage): void {
  if (isSameOrigin(incoming)) return;
  throw new Refusal(
    'cross-site',
    'This form did not come from a page of this service, so nothing was done. Open the page again and send it from there.',
  );
}

/**
 * Whether the browser speaks https: the service behind a proxy cannot see it. A form says so in its `Origin`. Other
 * requests do not have one; but `Sec-Fetch-Site` is sent over https and to the machine itself only (Fetch Metadata,
 * section 2, "potentially trustworthy URL").
 */
export function speaksHttps({ headers: { origin, ...headers }, headersDistinct }: IncomingMessage): boolean {
  if (origin !== undefined) return origin.startsWith('https:');
  const host = URL.parse(`http://${headersDistinct['host']?.[0]}`)?.hostname ?? '';
  return headers['sec-fetch-site'] !== undefined && !isLoopback(host);
}
