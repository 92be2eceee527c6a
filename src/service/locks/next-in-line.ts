/** A lease that waits, and whose client is present. */
export interface Waiting {
  readonly id: string;
  /** The order of the line, ascending: the time of arrival, earlier or later by its priority. */
  readonly rank: number;
  /** How many of its paths it needs. */
  readonly wanted: number;
  /** Its paths that nobody holds. */
  readonly free: readonly string[];
  /** Whether it has waited so long that its free paths are kept for it until it has enough of them. */
  readonly keeps: boolean;
}

/**
 * The next in line: for each free path that is spoken for, the lease. In the order of their ranks, a lease that has enough
 * free paths gets them as a whole. Any other one is passed on its free paths, until it has waited too long for that.
 */
export function nextInLine<Lease extends Waiting>(waiting: readonly Lease[]): ReadonlyMap<string, Lease> {
  const spokenFor = new Map<string, Lease>();
  for (const lease of waiting.toSorted(byRank)) {
    const open = lease.free.filter((path) => !spokenFor.has(path));
    const isGranted = open.length >= lease.wanted;
    const kept = isGranted ? open.slice(0, lease.wanted) : lease.keeps ? open : [];
    for (const path of kept) spokenFor.set(path, lease);
  }
  return spokenFor;
}

type Ranked = Pick<Waiting, 'id' | 'rank'>;

/** Ranks may be equal. */
export const byRank = (one: Ranked, other: Ranked): number => one.rank - other.rank || (one.id < other.id ? -1 : 1);
