import { type LockKey, nameOf } from './find.ts';

/** A waiting lease whose client is present. */
export interface Waiting {
  readonly id: string;
  /** Position in the line, ascending: the time of arrival, moved by the priority. */
  readonly rank: number;
  readonly size: number;
  /** Number of paths that it needs. */
  readonly wanted: number;
  /** Whether it has waited so long that its free paths are kept for it until there are enough of them. */
  readonly keeps: boolean;
}

/** A free path. */
export interface LinePath extends LockKey {
  /** Ignores leases from this rank on. */
  readonly before?: number | undefined;
}

export interface Lines<Lease extends Waiting> {
  /** For each path, by its index, the first leases in its line between two ranks, and any others of equal rank. */
  readonly first: (
    paths: readonly (LinePath & { readonly after: number; readonly before: number })[],
    count: 1 | 10 | 50,
  ) => Promise<readonly { readonly index: number; readonly lease: Lease }[]>;
  /** The leases with as many free paths as they want. `isFirst`: nobody in the workspace is ahead of them. */
  readonly withEnough: (
    sets: readonly Lease[],
  ) => Promise<readonly { readonly id: string; readonly isFirst: number }[]>;
  readonly free: (sets: readonly Lease[]) => Promise<readonly (LockKey & { readonly id: string })[]>;
}

/** A line, as far as it has been read. */
interface Line<Lease> {
  readonly path: LockKey;
  /** Rank of the last lease in the line that has been decided. */
  after: number;
  before: number;
  /** The leases after that, in order; undefined until they are read. */
  next: Lease[] | undefined;
  keptFor: Lease | undefined;
}

/**
 * The lease that each free path is kept for. In order of rank, each lease with enough free paths gets all that it
 * wants. Any other lease can be overtaken on its free paths until it has waited too long. Each line is read only as far
 * as needed: hundreds of leases may wait for the same thousands of paths.
 */
export async function nextInLine<Lease extends Waiting>(
  { first, withEnough, free }: Lines<Lease>,
  asked: readonly LinePath[],
): Promise<readonly (Lease | undefined)[]> {
  const lines = new Map<string, Line<Lease>>();
  /** The paths that are kept for each lease, decided once the leases ahead of it are. */
  const shares = new Map<string, ReadonlySet<string> | 'all'>();
  const freeOf = new Map<string, readonly LockKey[]>();

  function lineOf(path: LockKey, before: number): Line<Lease> {
    const known = lines.get(nameOf(path));
    const line = known ?? { path, after: beforeAll, before, next: undefined, keptFor: undefined };
    if (line.before < before && line.next?.length === 0) line.next = undefined;
    line.before = Math.max(line.before, before);
    if (known === undefined) lines.set(nameOf(path), line);
    return line;
  }

  /** Returns whether any lines were left to read. */
  async function readLines(count: 1 | 10 | 50): Promise<boolean> {
    const unread = [...lines.values()].filter((line) => line.next === undefined && line.keptFor === undefined);
    if (unread.length === 0) return false;
    const ranges = unread.map(({ path, after, before }) => ({ ...path, after, before }));
    const found = await first(ranges, countOf(count, unread.length));
    for (const line of unread) line.next = [];
    for (const { index, lease } of found) unread[index]?.next?.push(lease);
    for (const { next } of unread) next?.sort(byRank);
    const sets = distinct(found.map(({ lease }) => lease)).filter(({ id }) => !shares.has(id) && !freeOf.has(id));
    const unclear = sets.filter((lease) => !getsAll(lease));
    for (const lease of sets) if (getsAll(lease)) shares.set(lease.id, 'all');
    const enough = new Map((unclear.length === 0 ? [] : await withEnough(unclear)).map((set) => [set.id, set]));
    for (const { id, wanted, size, keeps } of unclear) {
      const found = enough.get(id);
      if (found?.isFirst === 1 && wanted === size) shares.set(id, 'all');
      else if (found === undefined && !keeps) shares.set(id, new Set());
    }
    return true;
  }

  /** Reads the free paths of leases that may get some, and adds their lines. Returns whether there were any. */
  async function readFree(): Promise<boolean> {
    const next = headsOf(lines.values()).flatMap(([head]) => (head === undefined ? [] : [head.lease]));
    const sets = [...next].filter(({ id }) => !shares.has(id) && !freeOf.has(id));
    if (sets.length === 0) return false;
    const found = Map.groupBy(await free(sets), ({ id }) => id);
    for (const { id, rank } of sets) {
      const paths = found.get(id) ?? [];
      freeOf.set(id, paths);
      for (const { workspace, path } of paths) lineOf({ workspace, path }, rank);
    }
    return true;
  }

  /** Undefined until the leases ahead of it are decided. */
  function shareOf(lease: Lease): ReadonlySet<string> | 'all' | undefined {
    const known = shares.get(lease.id);
    const paths = freeOf.get(lease.id);
    if (known !== undefined || paths === undefined) return known;
    const ofPaths = paths.map((path) => lineOf(path, lease.rank));
    if (!ofPaths.every((line) => isKnownUntil(line, lease))) return undefined;
    const open = ofPaths.flatMap(({ path, keptFor }) => (keptFor === undefined ? nameOf(path) : []));
    return new Set(open.length >= lease.wanted ? open.slice(0, lease.wanted) : lease.keeps ? open : []);
  }

  /** Returns whether it decided any. */
  function decide(): boolean {
    let decided = 0;
    for (const heads of headsOf(lines.values())) {
      const [{ lease } = {}] = heads;
      const share = lease && shareOf(lease);
      if (lease === undefined || share === undefined) continue;
      shares.set(lease.id, share);
      decided += 1;
      for (const { lease: head, line } of heads) {
        if (share === 'all' || share.has(nameOf(line.path))) line.keptFor = head;
        line.after = head.rank;
        line.next?.shift();
        if (line.next?.length === 0) line.next = undefined;
      }
    }
    return decided > 0;
  }

  const ofAsked = asked.map((path) => lineOf(path, path.before ?? lastRank));
  let isStuck = false;
  for (let count: 1 | 50 = 1; ofAsked.some(isOpen) && !isStuck; count = 50) {
    const hasRead = [await readLines(count), await readFree()].includes(true);
    isStuck = !decide() && !hasRead;
    while (decide());
  }
  return ofAsked.map(({ keptFor }, index) => {
    const { before = lastRank } = asked[index] ?? {};
    return keptFor !== undefined && keptFor.rank < before ? keptFor : undefined;
  });
}

/**
 * The leases at the head of some line, in order. A rank may have changed between two queries. The first one read
 * counts, or the lease would wait for itself.
 */
function headsOf<Lease extends Waiting>(lines: Iterable<Line<Lease>>) {
  const heads = [...lines].flatMap((line) => {
    const lease = line.keptFor === undefined ? line.next?.[0] : undefined;
    return lease === undefined ? [] : [{ lease, line }];
  });
  heads.sort((one, other) => byRank(one.lease, other.lease));
  return Map.groupBy(heads, ({ lease }) => lease.id).values();
}

/** Whether the leases ahead of this one are decided. */
const isKnownUntil = <Lease extends Waiting>({ keptFor, next }: Line<Lease>, lease: Lease): boolean =>
  keptFor !== undefined || (next !== undefined && (next[0] === undefined || byRank(next[0], lease) >= 0));

/** Whether the path may still be kept for a lease. */
const isOpen = ({ keptFor, next }: Line<Waiting>): boolean => keptFor === undefined && next?.length !== 0;

const beforeAll = Number.MIN_SAFE_INTEGER;
/** Sorts after the ranks of all leases. */
export const lastRank = Number.MAX_SAFE_INTEGER;

/** Maximum number of leases per query, for all lines together. */
const maxRead = 50_000;

function countOf(count: 1 | 10 | 50, lines: number): 1 | 10 | 50 {
  if (count * lines <= maxRead) return count;
  return 10 * lines > maxRead ? 1 : 10;
}

const distinct = <Lease extends Waiting>(leases: readonly Lease[]): readonly Lease[] => [
  ...new Map(leases.map((lease) => [lease.id, lease])).values(),
];

/** Whether a lease gets all of its paths that are free and not kept for a lease ahead of it, even if others are held. */
const getsAll = ({ size, wanted, keeps }: Waiting): boolean => size === 1 || (keeps && wanted === size);

type Ranked = Pick<Waiting, 'id' | 'rank'>;

/** Leases may have equal ranks. */
export const byRank = (one: Ranked, other: Ranked): number => one.rank - other.rank || (one.id < other.id ? -1 : 1);
