import type { LockContext } from '../context.ts';
import type { Entry, Grant } from '../ledger/entry.ts';
import { type JobLock, openHistory } from '../ledger/history.ts';
import { hasIdentity } from '../release.ts';

/** The reason why renewal has ended. */
export type RenewalEndReason = 'stopped' | 'nothing-left' | 'worker-gone' | 'too-old';

export interface FollowContext extends Pick<LockContext, 'clock' | 'sleep'> {
  /** Returns some or all of the lines added to the ledger since the last call. */
  readonly follow: () => readonly Entry[];
  readonly isWorkerGone: () => boolean;
}

const maxAgeMs = 5 * 24 * 3_600_000;

/** Time limit of pending requests at the end of the job, so that no renewal follows the release. */
const graceMs = 2_000;

/** Tracks the locks of a step that must be renewed, according to the ledger, and the end of the renewal. */
export function followLocks(
  { clock, sleep, follow, isWorkerGone }: FollowContext,
  step: string,
  grants: readonly Grant[],
) {
  const startedAt = clock();
  const history = openHistory();
  history.add(grants);
  let locks: readonly JobLock[] = [];
  let isStale = true;
  let inRound = false;
  const ending = new AbortController();
  const cutOff = new AbortController();
  let end: RenewalEndReason | undefined;

  const canBeRenewed = ({ grant, releaseStarted, loss }: JobLock): boolean =>
    grant.step === step && !releaseStarted && loss === undefined && hasIdentity(grant.lock);

  function readNewEntries(): void {
    try {
      for (let newEntries = follow(); newEntries.length > 0; newEntries = follow()) {
        history.add(newEntries);
        isStale = true;
      }
    } catch {
      // A ledger that cannot be read now may be readable at the next look. Until then, the known locks are renewed.
    }
  }

  function endReason(): RenewalEndReason | undefined {
    if (history.hasEnded(step)) return 'stopped';
    if (isWorkerGone()) return 'worker-gone';
    if (locks.length === 0) return 'nothing-left';
    return clock() - startedAt > maxAgeMs ? 'too-old' : undefined;
  }

  return {
    /** Aborted when no more renewals may start. */
    ending: ending.signal,
    /** Aborted when pending requests must end as well. */
    cutOff: cutOff.signal,
    locks: () => locks,
    end: () => end,
    readNewEntries,
    /** The lock according to the ledger; undefined if it must no longer be renewed. */
    current({ grant }: JobLock): JobLock | undefined {
      const lock = history.find(grant);
      return lock !== undefined && canBeRenewed(lock) ? lock : undefined;
    },
    /** During a round, the list of locks does not change: the round checks each lock itself. */
    setInRound: (value: boolean): void => {
      inRound = value;
    },
    look(): void {
      if (end !== undefined) return;
      readNewEntries();
      if (isStale && !inRound) {
        locks = history.read().held.filter(canBeRenewed);
        isStale = false;
      }
      end = endReason();
      if (end === undefined) return;
      ending.abort();
      // Without a worker, nothing releases the locks: each renewal would only keep others waiting.
      if (end === 'worker-gone') cutOff.abort();
      else void sleep(graceMs).then(() => cutOff.abort());
    },
  };
}
