import { networkOf, parseIpAddress, writeIpAddress } from '../platform/ip-address.ts';

export interface AttemptLimit {
  readonly max: number;
  readonly everyMs: number;
}

export const perMinute = (max: number): AttemptLimit => ({ max, everyMs: 60_000 });

/** An IPv6 subscriber has at least a /64 (RFC 6177), and could try from any address in it. */
export function subscriberOf(address: string): string {
  const parsed = parseIpAddress(address);
  if (parsed === undefined || parsed.kind() === 'ipv4') return address;
  return `${writeIpAddress(networkOf(parsed, 64))}/64`;
}

export type AttemptDecision =
  /** Successful attempts do not count, because many people may share one address. */
  { readonly kind: 'allowed'; succeeded(): void } | { readonly kind: 'refused'; readonly retryAfterSeconds: number };

interface Counted {
  count: number;
  readonly since: number;
}

/** Number of remembered sources at which expired ones are dropped. */
const sourcesBeforeSweep = 10_000;

export interface Attempts {
  (source: string): AttemptDecision;
  /** Seconds until the next attempt of a source is allowed, 0 if it already is. Does not count as an attempt. */
  readonly secondsUntilAllowed: (source: string) => number;
}

/** Limits the failures of a source. Attempts count from their start, so that parallel ones cannot bypass the limit. */
export function limitAttempts({ max, everyMs }: AttemptLimit, clock: () => number): Attempts {
  const counted = new Map<string, Counted>();

  function sweep(now: number): void {
    if (counted.size < sourcesBeforeSweep) return;
    for (const [source, { since }] of counted) if (now - since >= everyMs) counted.delete(source);
  }

  function secondsUntilAllowed(source: string): number {
    const known = counted.get(source);
    if (known === undefined || known.count < max) return 0;
    return Math.max(0, Math.ceil((known.since + everyMs - clock()) / 1_000));
  }

  function attempt(source: string): AttemptDecision {
    const retryAfterSeconds = secondsUntilAllowed(source);
    if (retryAfterSeconds > 0) return { kind: 'refused', retryAfterSeconds };
    const now = clock();
    const known = counted.get(source);
    const current = known === undefined || now - known.since >= everyMs ? { count: 0, since: now } : known;
    sweep(now);
    current.count += 1;
    counted.set(source, current);
    return {
      kind: 'allowed',
      succeeded: () => {
        current.count -= 1;
      },
    };
  }

  return Object.assign(attempt, { secondsUntilAllowed });
}
