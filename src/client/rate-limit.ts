import type { IncomingHttpHeaders } from 'node:http';

export interface RateLimitStatus {
  /** The number of requests that the server still accepts now. */
  readonly remaining: number;
  /** Time until the server accepts more, from the time of the response. */
  readonly resetMs: number | undefined;
  /** The limit per time window; undefined if it reports only the remaining number. */
  readonly policy: { readonly quota: number; readonly windowMs: number } | undefined;
}

/** Undefined if no header is readable. */
export const rateLimitIn = (headers: IncomingHttpHeaders, serverNow: number): RateLimitStatus | undefined =>
  byField(headers) ?? byHeaders(headers, serverNow);

/** `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers, version 8 and later. */
function byField(headers: IncomingHttpHeaders): RateLimitStatus | undefined {
  const policies = parseList(textOf(headers, 'ratelimit-policy'));
  return strictest(
    parseList(textOf(headers, 'ratelimit')).flatMap(({ name, parameters }) => {
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
function parseList(field: string) {
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

/** Numbers from here on are not waits but times, in seconds since 1970. */
const firstMoment = 1e9;

/** The headers of the first drafts and of earlier servers: one for each number. */
function byHeaders(headers: IncomingHttpHeaders, serverNow: number): RateLimitStatus | undefined {
  for (const prefix of ['ratelimit-', 'x-ratelimit-']) {
    const remaining = numberIn(textOf(headers, `${prefix}remaining`));
    if (remaining === undefined) continue;
    const reset = numberIn(textOf(headers, `${prefix}reset`));
    const resetMs = reset === undefined ? undefined : reset * 1_000 - (reset >= firstMoment ? serverNow : 0);
    return { remaining, resetMs: resetMs && Math.max(0, resetMs), policy: undefined };
  }
  return undefined;
}

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
