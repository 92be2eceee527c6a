import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { IpAddresses, TargetCheck } from './target-address.ts';

/** Whether everybody could ask there: the connection may go to any of the addresses. */
export const isPublic = (addresses: IpAddresses, check: TargetCheck): boolean =>
  addresses.every((address) => check.judge(address).kind === 'public');

declare const brand: unique symbol;

/** Where the service sends a request of its own: a delivery, or a question to an issuer. Its path and query may hold secrets: only its origin is for sentences and logs. */
export interface Target {
  /** In the one spelling that the URL standard gives it. */
  readonly url: string;
  readonly origin: string;
  readonly protocol: 'http:' | 'https:';
  readonly hostname: string;
  readonly [brand]: 'Target';
}

/** Whether a hook may be registered for this URL. A name that does not resolve now is checked again at delivery. */
export async function checkTarget(
  text: string,
  check: TargetCheck,
  { resolveWithinMs = 3_000 }: { readonly resolveWithinMs?: number } = {},
): Promise<Parsed<Target>> {
  const target = parseTarget(text);
  if (!target.ok) return target;
  const addresses = await check
    .addressesOf(target.value.hostname, AbortSignal.timeout(resolveWithinMs))
    .catch(() => undefined);
  if (addresses !== undefined) return checkTargetAddresses(target.value, addresses, check);
  if (target.value.protocol === 'https:') return target;
  return refused(
    `The name of ${target.value.origin} does not resolve, so it may be outside the allowed networks. Use https, or try again when it resolves.`,
  );
}

export const maxUrlLength = 2_048;
const controlCharacter = /\p{Cc}/u;

/** The form of a target alone, without a look at where it leads. */
export function parseTarget(text: string): Parsed<Target> {
  if (text.length > maxUrlLength) return refused(`The URL has more than ${maxUrlLength} characters.`);
  if (controlCharacter.test(text) || !text.isWellFormed() || text !== text.trim()) {
    return refused('The URL has a control character, or a space at one of its ends.');
  }
  const url = URL.parse(text);
  if (url === null) return refused('This is not a URL. It must look like https://hooks.example.com/path.');
  const { protocol, origin, hostname, href } = url;
  if (protocol !== 'https:' && protocol !== 'http:') return refused('The URL must begin with https://.');
  if (url.username !== '' || url.password !== '') {
    return refused('The URL has a user name or a password, which would reach logs: send them in "headers" instead.');
  }
  if (href.includes('#')) return refused('The URL has a fragment (the part from # on), which is never sent.');
  if (href.length > maxUrlLength)
    return refused(`The URL has more than ${maxUrlLength} characters once it is encoded.`);
  // The brand exists for the compiler alone.
  return accepted({ url: href, origin, protocol, hostname } as Target);
}

const whatIsAllowed =
  'Requests go to public addresses, and into the networks that the operator of the service allows (--allow-hook-network).';

/** Whether the target may be reached at these addresses. All of them must be allowed, because any may be used. */
export function checkTargetAddresses(target: Target, addresses: IpAddresses, check: TargetCheck): Parsed<Target> {
  for (const address of addresses) {
    const decision = check.judge(address);
    switch (decision.kind) {
      case 'refused':
        return refused(`${target.origin} leads to ${decision.what}. ${whatIsAllowed}`);
      case 'public':
        if (target.protocol === 'https:') break;
        return refused(
          `${target.origin} does not encrypt, and is not inside a network that the operator of the service allows (--allow-hook-network): use https.`,
        );
      case 'allowed':
        break;
    }
  }
  return accepted(target);
}
