import { unavailable } from '../contract/problem.ts';
import { GitError } from '../git/git-error.ts';
import { limitMemory } from '../runtime/limit-memory.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';

export interface MirrorLimits extends Readonly<typeof defaultMirrorLimits> {
  readonly parallelClones: number;
}

export const defaultMirrorLimits = {
  cloneTimeoutMs: 45 * 60_000,
  /** Interval of checks whether the token of a client was revoked. */
  checkTokenEveryMs: 5_000,
  /** Time limit for a client to receive a chunk of 64 KB. */
  maxMsPerChunk: 30_000,
  maxMsPerRequest: 15_000,
  /** Maximum wait for a slot: less than the minute after which proxies and this service close a silent connection. */
  maxWaitMs: 45_000,
  /** Memory limit for all requests that are being received, waiting or being served. */
  maxRequestBytes: 128 * 1_024 * 1_024,
};

export type MirrorSlots = ReturnType<typeof createMirrorSlots>;

/** Slots for requests that take milliseconds, so that they do not wait for clones that take minutes. */
const quickSlots = 8;

/** Maximum share of one owner, regardless of the number of its tokens: the rest is left to others. */
const shareOfOwner = 3 / 4;

const busyText = 'The maximum number of clones is running. Try again in a minute.';

export function createMirrorSlots({ parallelClones, maxWaitMs, maxRequestBytes }: MirrorLimits) {
  const timeout = { ms: maxWaitMs, error: busy };
  const slotsOf = (max: number) =>
    limitParallel({ max, maxPerKey: Math.max(1, Math.floor(max * shareOfOwner)), timeout });
  return {
    quick: slotsOf(quickSlots),
    clones: slotsOf(parallelClones),
    holding: limitMemory({
      maxBytes: maxRequestBytes,
      maxBytesPerKey: maxRequestBytes * shareOfOwner,
      error: () => unavailable(busyText),
    }),
  };
}

const busy = (): GitError => new GitError('busy', busyText);
