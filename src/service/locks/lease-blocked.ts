import { linePathOf } from './acquire.ts';
import { type LockKey, type Obstacle, obstacleIn, type StoredLock } from './find.ts';
import type { Next } from './line.ts';
import { maxWaitSeconds, type WatchedPath } from './waiters.ts';

/** Too few of the paths of a lease are free. */
export interface Blocked {
  readonly kind: 'blocked';
  /** The first of the paths in its way. One without an obstacle is kept for another lease. */
  readonly paths: readonly { readonly path: string; readonly obstacle?: Obstacle }[];
  readonly count: number;
  readonly remainingSeconds: number;
  /** A lease that a free path is kept for. */
  readonly next: Next | undefined;
  /** The paths that must change before the lease can be granted. */
  readonly watched: readonly WatchedPath[];
}

/** How many paths a response names. */
const maxNamed = 20;

/** `kept` belongs to the free ones of the keys. */
export function blockedBy(
  wanted: number,
  keys: readonly LockKey[],
  found: readonly (StoredLock | undefined)[],
  kept: readonly (Next | undefined)[],
): Blocked {
  const keptForFree = kept.values();
  const states = keys.map((key, index) => {
    const lock = found[index]?.isTaken ? found[index] : undefined;
    const by: WatchedPath['by'] = lock === undefined ? keptForFree.next().value : 'lock';
    return { ...linePathOf(key), asked: key.path, lock, by };
  });
  const taken = states.filter(({ by }) => by !== undefined);
  // A lease that needs all of its paths needs each of them, so one is enough to wait for. Chosen at random, few of the
  // releases of thousands of paths, in whatever order, cause another attempt.
  const locked = taken.filter(({ lock }) => lock !== undefined);
  const inTheWay = locked.length > 0 ? locked : taken;
  const one = inTheWay[Math.floor(Math.random() * inTheWay.length)];
  return {
    kind: 'blocked',
    paths: taken
      .slice(0, maxNamed)
      .map(({ asked, lock }) => ({ path: asked, ...(lock !== undefined && { obstacle: obstacleIn(lock) }) })),
    count: taken.length,
    remainingSeconds: taken.reduce(
      (least, { lock }) => Math.min(least, lock === undefined ? 1 : Math.ceil(lock.opensInMs / 1_000)),
      maxWaitSeconds,
    ),
    next: kept.find((next) => next !== undefined),
    watched: wanted < keys.length || one === undefined ? states : [one],
  };
}
