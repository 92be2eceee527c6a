import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../../../interface/loopback.ts';
import { Refusal } from '../../contract/problem.ts';

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/**
 * Browsers say where a form comes from, and no page can forge that. `Sec-Fetch-Site` is the browser's own comparison. It is
 * absent on plain http beyond loopback; there `Origin` is compared with `Host`, which a proxy may have changed under https.
 */
function isSameOrigin({ headers, headersDistinct }: IncomingMessage): boolean {
  const { origin } = headers;
  if (origin === undefined) return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const host = hostOf(origin);
  return host !== undefined && host === headersDistinct['host']?.[0]?.toLowerCase();
}

/** Refuses a form that another site made the browser send. */
export function refuseOtherSites(incoming: IncomingMessage): void {
  if (isSameOrigin(incoming)) return;
  throw new Refusal(
    'cross-site',
    'This form did not come from a page of this service, so nothing was done. Open the page again and send it from there.',
  );
}

/**
 * Whether the browser uses https, which the service behind a proxy cannot see. Forms say so in their `Origin`. Other
 * requests have none, but `Sec-Fetch-Site` is sent only over https and to loopback (Fetch Metadata, section 2, "potentially
 * trustworthy URL").
 */
export function speaksHttps({ headers: { origin, ...headers }, headersDistinct }: IncomingMessage): boolean {
  if (origin !== undefined) return origin.startsWith('https:');
  const host = URL.parse(`http://${headersDistinct['host']?.[0]}`)?.hostname ?? '';
  return headers['sec-fetch-site'] !== undefined && !isLoopback(host);
}
