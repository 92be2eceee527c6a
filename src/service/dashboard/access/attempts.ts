export interface AttemptLimit {
  readonly most: number;
  readonly everyMs: number;
}

export type Attempt =
  /** What succeeds does not count: people behind one address share it. */
  { readonly kind: 'allowed'; succeeded(): void } | { readonly kind: 'refused'; readonly retryAfterSeconds: number };

interface Counted {
  count: number;
  readonly since: number;
}

/** So many addresses are kept in mind before those whose time is over are forgotten. */
const addressesBeforeSweep = 10_000;

/** Failures from one address, counted as they begin, so that many at once are no way around it. */
export function limitAttempts({ most, everyMs }: AttemptLimit, clock: () => number): (address: string) => Attempt {
  const counted = new Map<string, Counted>();

  function sweep(now: number): void {
    if (counted.size < addressesBeforeSweep) return;
    for (const [address, { since }] of counted) if (now - since >= everyMs) counted.delete(address);
  }

  return (address) => {
    const now = clock();
    const known = counted.get(address);
    const current = known === undefined || now - known.since >= everyMs ? { count: 0, since: now } : known;
    if (current.count >= most) {
      return { kind: 'refused', retryAfterSeconds: Math.ceil((current.since + everyMs - now) / 1_000) };
    }
    sweep(now);
    current.count += 1;
    counted.set(address, current);
    return {
      kind: 'allowed',
      succeeded: () => {
        current.count -= 1;
      },
    };
  };
}
