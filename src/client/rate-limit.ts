import type { IncomingHttpHeaders } from 'node:http';

export interface RateLimitStatus {
  /** The number of requests that the server still accepts now. */
  readonly remaining: number;
  /** Time until the server accepts more, from the time of the response. */
  readonly resetMs: number | undefined;
  /** The limit per time window; undefined if it reports only the remaining number. */
  readonly policy: { readonly quota: number; readonly windowMs: number } | undefined;
}

/**
 * From `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers, version 8 and later; undefined if
 * they cannot be read. A service with other headers refuses requests with 429 when its limit is reached.
 */
export function rateLimitIn(headers: IncomingHttpHeaders): RateLimitStatus | undefined {
  const policies = membersOf(textOf(headers, 'ratelimit-policy'));
  return strictest(
    membersOf(textOf(headers, 'ratelimit')).flatMap(({ name, parameters }) => {
      const remaining = parameters.get('r');
      if (remaining === undefined) return [];
      const reset = parameters.get('t');
      const its = policies.find((each) => each.name === name)?.parameters;
      const [quota, seconds] = [its?.get('q'), its?.get('w')];
      const policy = quota && seconds ? { quota, windowMs: seconds * 1_000 } : undefined;
      return { remaining, resetMs: reset === undefined ? undefined : reset * 1_000, policy };
    }),
  );
}

/** A list of RFC 9651 as far as rate limits need it: `"name";key=1;key=2, …`. Quoted names may contain separators. */
function membersOf(field: string) {
  const members = field.match(/(?:"[^"]*"|[^",])+/g) ?? [];
  return members.map((member) => {
    const [name = '', ...parameters] = member.match(/(?:"[^"]*"|[^";])+/g) ?? [];
    const pairs = parameters.flatMap((parameter): [string, number][] => {
      const [key = '', value] = parameter.split('=', 2);
      const number = numberIn(value);
      return number === undefined ? [] : [[key.trim().toLowerCase(), number]];
    });
    return { name: name.trim(), parameters: new Map(pairs) };
  });
}

/** If there are several limits, the one that will be reached first. */
const strictest = (all: readonly RateLimitStatus[]): RateLimitStatus | undefined =>
  all.reduce<RateLimitStatus | undefined>((least, one) => {
    if (least === undefined || one.remaining < least.remaining) return one;
    const isLonger = one.remaining === least.remaining && (one.resetMs ?? 0) > (least.resetMs ?? 0);
    return isLonger ? one : least;
  }, undefined);

const numberIn = (text: string | undefined): number | undefined => {
  const digits = /^\s*(\d{1,15})\s*(?:[.,;]|$)/.exec(text ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
};

/** Longer fields have no information for pacing. */
const maxFieldLength = 1_000;

function textOf(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value.join(',') : (value ?? '')).slice(0, maxFieldLength);
}
