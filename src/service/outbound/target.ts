import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { IpAddresses, TargetCheck } from './target-address.ts';

declare const brand: unique symbol;

/**
 * Target of a request by the service itself: a delivery, or a request to an issuer. The path and query may contain
 * secrets: messages and logs use only the origin.
 */
export type Target = URL & { readonly [brand]: 'Target' };

/** Checks whether a hook may be registered for this URL. Names that do not resolve now are checked at delivery. */
export async function checkTarget(
  text: string,
  check: TargetCheck,
  group: string,
  { resolveWithinMs = 3_000 } = {},
): Promise<Parsed<Target>> {
  const target = parseTarget(text);
  if (!target.ok) return target;
  const addresses = await check
    .addressesOf(target.value.hostname, group, AbortSignal.timeout(resolveWithinMs))
    .catch(() => undefined);
  if (addresses !== undefined) return checkTargetAddresses(target.value, addresses, check);
  if (target.value.protocol === 'https:') return target;
  return refused(
    `The name of ${target.value.origin} could not be resolved, so it may be outside the allowed networks. Use https, or try again later.`,
  );
}

export const maxUrlLength = 2_048;
const controlCharacter = /\p{Cc}/u;

/** Parses a target without resolving its name. */
export function parseTarget(text: string): Parsed<Target> {
  if (text.length > maxUrlLength) return refused(`The URL has more than ${maxUrlLength} characters.`);
  if (controlCharacter.test(text) || !text.isWellFormed() || text !== text.trim()) {
    return refused('The URL has a control character, or a space at one of its ends.');
  }
  const url = URL.parse(text);
  if (url === null) return refused('This is not a URL. It must look like https://hooks.example.com/path.');
  const { protocol, href } = url;
  if (protocol !== 'https:' && protocol !== 'http:') return refused('The URL must begin with https://.');
  if (url.username !== '' || url.password !== '') {
    return refused('The URL has a user name or a password, which would reach logs: send them in "headers" instead.');
  }
  if (href.includes('#')) return refused('The URL has a fragment (the part from # on), which is never sent.');
  if (href.length > maxUrlLength)
    return refused(`The URL has more than ${maxUrlLength} characters once it is encoded.`);
  // The brand exists only at compile time.
  return accepted(url as Target);
}

/** Checks the addresses of the target. All of them must be allowed, because any may be used. */
export function checkTargetAddresses(target: Target, addresses: IpAddresses, check: TargetCheck): Parsed<Target> {
  const verdicts = addresses.map(check.checkAddress);
  const forbidden = verdicts.find((verdict) => verdict.kind === 'refused');
  if (forbidden !== undefined) {
    return refused(
      `${target.origin} leads to ${forbidden.addressKind}. Requests go to public addresses, and into the networks that the operator of the service allows (--allow-hook-network).`,
    );
  }
  if (target.protocol === 'https:' || verdicts.every(({ kind }) => kind === 'allowed')) return accepted(target);
  return refused(
    `${target.origin} does not encrypt, and is not inside a network that the operator of the service allows (--allow-hook-network): use https.`,
  );
}
