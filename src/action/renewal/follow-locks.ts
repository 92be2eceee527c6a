import type { Clock } from '../../client/client.ts';
import type { Entry } from '../ledger/entry.ts';
import { type JobLock, openHistory } from '../ledger/history.ts';
import { hasIdentity } from '../locks/release.ts';

/** Why locks are not renewed any more. */
export type RenewalEndReason = 'stopped' | 'nothing-left' | 'worker-gone' | 'ledger-gone' | 'too-old';

export interface FollowContext {
  readonly clock: Clock;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** The lines added to the ledger since the last call, or some of them; throws when the ledger is gone. */
  readonly follow: () => readonly Entry[];
  readonly isWorkerGone: () => boolean;
}

const maxAgeMs = 5 * 24 * 3_600_000;

/** Requests under way at the end of the job get this long, so that no renewal comes after the release. */
const graceMs = 2_000;

/** The locks of a step to renew, according to the ledger, and the end of the renewal. */
export function followLocks({ clock, sleep, follow, isWorkerGone }: FollowContext, step: string) {
  const began = clock();
  const history = openHistory();
  let locks: readonly JobLock[] = [];
  let isOld = false;
  let inRound = false;
  let ledgerGone = false;
  const ending = new AbortController();
  const cutOff = new AbortController();
  let end: RenewalEndReason | undefined;

  const canBeRenewed = ({ grant, releaseStarted, loss }: JobLock): boolean =>
    grant.step === step && !releaseStarted && loss === undefined && hasIdentity(grant.lock);

  function readNews(): void {
    try {
      for (let news = follow(); news.length > 0; news = follow()) {
        history.add(news);
        isOld = true;
      }
    } catch {
      ledgerGone = true;
    }
  }

  function endReason(): RenewalEndReason | undefined {
    if (ledgerGone) return 'ledger-gone';
    if (history.hasStopped(step)) return 'stopped';
    if (isWorkerGone()) return 'worker-gone';
    if (locks.length === 0) return 'nothing-left';
    return clock() - began > maxAgeMs ? 'too-old' : undefined;
  }

  return {
    /** Aborted when nothing more is to be renewed. */
    ending: ending.signal,
    /** Aborted when requests on their way are to end as well. */
    cutOff: cutOff.signal,
    locks: () => locks,
    end: () => end,
    readNews,
    /** The lock as the ledger knows it now; undefined if it is not to be renewed any more. */
    current({ grant }: JobLock): JobLock | undefined {
      const lock = history.find(grant);
      return lock !== undefined && canBeRenewed(lock) ? lock : undefined;
    },
    /** During a round, the list of locks stays the same: the round looks at each lock itself. */
    setInRound: (value: boolean): void => {
      inRound = value;
    },
    look(): void {
      if (end !== undefined) return;
      readNews();
      if (isOld && !inRound) {
        locks = history.read().held.filter(canBeRenewed);
        isOld = false;
      }
      end = endReason();
      if (end === undefined) return;
      ending.abort();
      // Without a worker there is nobody to release anything: each renewal would only keep others waiting.
      if (end === 'worker-gone') cutOff.abort();
      else void sleep(graceMs).then(() => cutOff.abort());
    },
  };
}
