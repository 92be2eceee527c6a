import type { ExtraHeaders } from './extra-headers.ts';
import type { WebhookSecret } from './signature.ts';

interface Sent {
  readonly url: string;
  readonly secret: WebhookSecret;
  readonly headers: ExtraHeaders;
  readonly signature: string;
}

/** The secrets that a delivery gives to its receiver, in every form in which its answer may repeat them. */
export function requestSecrets({ url, secret, headers, signature }: Sent): readonly string[] {
  const { search } = new URL(url);
  return [
    secret,
    secret.slice(secret.indexOf('_') + 1),
    signature,
    signature.slice(signature.indexOf(',') + 1),
    ...valuesIn(search.slice(1)),
    ...Object.values(headers).flatMap(credentialsIn),
  ].filter((text) => text !== '');
}

/** The whole of a query, and each value as it is spelled there and as what it means; a name alone is a value. */
function valuesIn(query: string): readonly string[] {
  const spelled = query.split('&').map((part) => part.slice(part.indexOf('=') + 1));
  const meant = [...new URLSearchParams(query)].map(([name, value]) => (value === '' ? name : value));
  return [query, ...spelled, ...meant];
}

/** Of `Bearer …` also what follows, and of `Basic …` what it means (RFC 7617). */
function credentialsIn(value: string): readonly string[] {
  const [, scheme = '', credential = ''] = /^(\S+) +(.+)$/.exec(value) ?? [];
  if (scheme.toLowerCase() !== 'basic') return [value, credential];
  const pair = Buffer.from(credential, 'base64').toString();
  return [value, credential, pair, pair.slice(pair.indexOf(':') + 1)];
}
