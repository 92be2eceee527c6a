import { networkOf, parseIpAddress, writeIpAddress } from '../platform/ip-address.ts';

export interface AttemptLimit {
  readonly max: number;
  readonly everyMs: number;
}

export type Attempt =
  /** Successes do not count: people behind one address share it. */
  { readonly kind: 'allowed'; succeeded(): void } | { readonly kind: 'refused'; readonly retryAfterSeconds: number };

interface Counted {
  count: number;
  readonly since: number;
}

/** How many sources to remember before expired ones are dropped. */
const sourcesBeforeSweep = 10_000;

/** In IPv6 a subscriber has a whole /64 (RFC 6177) and could try from any address in it. */
export function subscriberOf(address: string): string {
  const parsed = parseIpAddress(address);
  if (parsed === undefined || parsed.kind() === 'ipv4') return address;
  return `${writeIpAddress(networkOf(parsed, 64))}/64`;
}

/** Limits the failures of a source. Attempts count from their start, so that many at once do not get around it. */
export function limitAttempts({ max, everyMs }: AttemptLimit, clock: () => number): (source: string) => Attempt {
  const counted = new Map<string, Counted>();

  function sweep(now: number): void {
    if (counted.size < sourcesBeforeSweep) return;
    for (const [source, { since }] of counted) if (now - since >= everyMs) counted.delete(source);
  }

  return (source) => {
    const now = clock();
    const known = counted.get(source);
    const current = known === undefined || now - known.since >= everyMs ? { count: 0, since: now } : known;
    if (current.count >= max) {
      return { kind: 'refused', retryAfterSeconds: Math.ceil((current.since + everyMs - now) / 1_000) };
    }
    sweep(now);
    current.count += 1;
    counted.set(source, current);
    return {
      kind: 'allowed',
      succeeded: () => {
        current.count -= 1;
      },
    };
  };
}
