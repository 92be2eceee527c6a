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
  /** Less than the minute in which proxies, and this service, give up a connection that is silent. */
  readonly maxWaitMs: number;
  /** Of requests that wait and that are answered, as they were sent. */
  readonly maxRequestBytes: number;
}

export const usualMirrorLimits = {
  cloneTimeoutMs: 45 * 60_000,
  checkTokenEveryMs: 5_000,
  maxMsPerPiece: 60_000,
  maxWaitMs: 45_000,
  maxRequestBytes: 128 * 1_024 * 1_024,
} satisfies Partial<MirrorLimits>;

/** Requests that are answered within milliseconds, and must not wait for those that take minutes. */
const quickOnes = 8;

/** So that one token leaves places for others. */
const shareOfToken = 3 / 4;

const whyBusy = 'As many clones as the service serves at a time are running. Try again in a minute.';
const busy = (): GitError => new GitError('busy', whyBusy);

/** Places for the work of requests, by token. */
export function createMirrorPlaces({ parallelClones, maxWaitMs, maxRequestBytes }: MirrorLimits) {
  const patience = { maxWaitMs, busy };
  const placesOf = (max: number) =>
    limitParallel({ max, maxPerKey: Math.max(1, Math.floor(max * shareOfToken)), patience });
  let heldBytes = 0;

  return {
    quick: placesOf(quickOnes),
    clones: placesOf(parallelClones),
    /** Makes room for a request of this size for as long as it is worked on. */
    async holding<T>(bytes: number, work: () => Promise<T>): Promise<T> {
      if (heldBytes + bytes > maxRequestBytes) throw unavailable(whyBusy);
      heldBytes += bytes;
      try {
        return await work();
      } finally {
        heldBytes -= bytes;
      }
    },
  };
}

export type MirrorPlaces = ReturnType<typeof createMirrorPlaces>;
