import { mirrorAgeText, outdatedText } from '../../interface/outdated.ts';
import type { Compared } from '../../interface/resources.ts';
import { Refusal, unavailable } from '../contract/response.ts';
import type { Lock } from '../contract/schemas.ts';
import type { Database } from '../storage/storage.ts';
import { type StoredLock, toLock } from './find.ts';
import type { Next } from './kept-paths.ts';
import type { WatchedPath } from './local-waiters.ts';
import type { Waited } from './wait-terms.ts';

/** The decision, unless it is a refusal: that is thrown. */
export function orThrow<Decision>(decision: Decision | Refusal): Decision {
  if (decision instanceof Refusal) throw decision;
  return decision;
}

/** Too few of the requested paths are free. */
export interface Blocked {
  readonly kind: 'blocked';
  /** The first of the paths that are not free, each with its lock; without one, it is kept for another lease. */
  readonly paths: readonly { readonly path: string; readonly lock?: StoredLock }[];
  readonly count: number;
  readonly retryAfterSeconds: number;
  /** A lease that a free path is kept for. */
  readonly next: Next | undefined;
  /** The paths whose change can make the request grantable. */
  readonly watched: readonly WatchedPath[];
  /** The obstacles of the same request at a later time. */
  readonly lookAgain: (db: Database) => Promise<Blocked>;
}

export function lockedRefusal(blocked: Waited<Blocked>): Refusal {
  const lock = blocked.paths[0]?.lock;
  const { queue } = blocked;
  return new Refusal('locked', obstacleText(blocked), {
    ...(lock && { lock: toLock(lock) }),
    queue,
    headers: retryHeaders(blocked),
  });
}

/** Why the first blocked path is not available. */
export function obstacleText({ paths: [first], next }: Blocked): string {
  const lock = first?.lock;
  if (lock === undefined) {
    const run = next?.origin ? ` (${next.origin})` : '';
    return `${first?.path} is free, but ${next?.owner}${run} is first in line for it.`;
  }
  return `${lock.path} is ${heldBy(toLock(lock))}.`;
}

export const retryHeaders = ({ retryAfterSeconds, waitedSeconds }: Waited<Blocked>) => ({
  'retry-after': String(retryAfterSeconds),
  ...appliedWait(waitedSeconds),
});

export const appliedWait = (seconds: number | undefined): Readonly<Record<string, string>> =>
  seconds === undefined ? {} : { 'preference-applied': `wait=${seconds}` };

/** For a lease, the problem lists all outdated files. */
export function outdatedRefusal({ outdated, as_of, gap, branch }: Compared, isLease: boolean): Refusal {
  const [first] = outdated;
  if (first === undefined && gap !== undefined) {
    const detail = `The workspace refuses locks on outdated files, so nothing was locked. ${gap.reason}`;
    return gap.isLasting ? new Refusal('outdated', detail) : unavailable(detail);
  }
  const age = as_of === undefined ? '' : ` ${mirrorAgeText(as_of)}`;
  const more = outdated.length > 1 ? ` ${outdated.length - 1} more of the files are outdated, too.` : '';
  const text = first === undefined ? '' : outdatedText(first, branch);
  return new Refusal('outdated', `${text}${more}${age}`, { outdated: isLease ? outdated : first });
}

export const heldBy = ({ owner, expires_at, origin, note }: Lock): string =>
  `held by ${owner} until ${expires_at}${origin === null ? '' : `, acquired from ${origin}`}${note === null ? '' : `, with the note "${note}"`}`;
