import { unavailable } from '../contract/problem.ts';
import { GitError } from '../git/git-error.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';

export interface MirrorLimits {
  /** How many clients are sent objects at the same time. */
  readonly parallelClones: number;
  /** How long sending them may take. */
  readonly cloneTimeoutMs: number;
  /** How often it is looked whether the token of a client was revoked. */
  readonly checkTokenEveryMs: number;
  /** How long a client may take for a piece of 64 KB. */
  readonly maxMsPerPiece: number;
  /** Minimum amount that a client must receive in this time while others wait for its place. */
  readonly minPaceIfWaitedFor: { readonly bytes: number; readonly forMs: number };
  /** How long its request may take to arrive. */
  readonly maxMsPerRequest: number;
  /** Less than the minute in which proxies, and this service, give up a connection that is silent. */
  readonly maxWaitMs: number;
  /** Limit for all requests that are arriving, waiting or being served. */
  readonly maxRequestBytes: number;
}

export const defaultMirrorLimits = {
  cloneTimeoutMs: 45 * 60_000,
  checkTokenEveryMs: 5_000,
  maxMsPerPiece: 60_000,
  minPaceIfWaitedFor: { bytes: 1_000 * 1_024, forMs: 10_000 },
  maxMsPerRequest: 15_000,
  maxWaitMs: 45_000,
  maxRequestBytes: 128 * 1_024 * 1_024,
} satisfies Partial<MirrorLimits>;

export type MirrorPlaces = ReturnType<typeof createMirrorPlaces>;

/** Requests that are answered within milliseconds, and must not wait for those that take minutes. */
const quickOnes = 8;

/** One owner leaves places and memory for others, however many tokens it has. */
const shareOfOwner = 3 / 4;

const busyText = 'The maximum number of clones is running. Try again in a minute.';

/** Places for the work of requests, by owner. */
export function createMirrorPlaces({ parallelClones, maxWaitMs, maxRequestBytes }: MirrorLimits) {
  const timeout = { ms: maxWaitMs, error: busy };
  const placesOf = (max: number) =>
    limitParallel({ max, maxPerKey: Math.max(1, Math.floor(max * shareOfOwner)), timeout });
  const heldBytes = new Map<string, number>();
  const heldInAll = (): number => [...heldBytes.values()].reduce((sum, bytes) => sum + bytes, 0);

  function hold(owner: string, bytes: number): void {
    const held = (heldBytes.get(owner) ?? 0) + bytes;
    if (held === 0) heldBytes.delete(owner);
    else heldBytes.set(owner, held);
  }

  return {
    quick: placesOf(quickOnes),
    clones: placesOf(parallelClones),
    /** `take` holds the place until the work ends. */
    async holding<T>(owner: string, work: (take: (bytes: number) => void) => Promise<T>): Promise<T> {
      let held = 0;
      function take(bytes: number): void {
        const ofOwner = (heldBytes.get(owner) ?? 0) + bytes;
        if (ofOwner > maxRequestBytes * shareOfOwner || heldInAll() + bytes > maxRequestBytes) {
          throw unavailable(busyText);
        }
        hold(owner, bytes);
        held += bytes;
      }
      try {
        return await work(take);
      } finally {
        hold(owner, -held);
      }
    },
  };
}

const busy = (): GitError => new GitError('busy', busyText);
