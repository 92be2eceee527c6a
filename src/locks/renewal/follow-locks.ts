import { conditionOf, isSameLock } from '../../client/known-lock.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Entry, Grant } from '../ledger/entry.ts';
import type { LockTerms } from '../path-by-path.ts';
import type { LockContext } from '../release.ts';

export interface LocksToFollow
  extends Pick<LockContext, 'clock' | 'sleep'>,
    Pick<LockTerms, 'service' | 'workspace' | 'step'> {
  /** Returns some or all of the ledger entries added since the last call. */
  readonly follow: () => readonly Entry[];
  readonly isWorkerGone: () => boolean;
  /** The locks at the start, because the ledger may be gone later. */
  readonly grants: readonly Grant[];
  /** Ends the renewal after this many days. Without it, only the end of the job does. */
  readonly maxDays?: number;
}

export type RenewalEndReason = 'stopped' | 'nothing-left' | 'worker-gone' | 'too-old';

/** At the end of the job, pending requests get this much time, so that no renewal arrives after the release. */
const graceMs = 2_000;

/** Tracks, according to the ledger, which locks of a step must be renewed, and when to stop. */
export function followLocks(locks: LocksToFollow) {
  const { clock, sleep, follow, isWorkerGone, service, workspace, step, grants } = locks;
  const maxAgeMs = (locks.maxDays ?? Number.POSITIVE_INFINITY) * 24 * 3_600_000;
  const startedAt = clock();
  /** The locks that are not lost, with their current ETags. A step locks each path only once. */
  const kept = new Map(
    grants.filter(({ lock }) => conditionOf(lock) !== undefined).map((grant) => [grant.path, grant]),
  );
  /**
   * By path: the number of releases that were started, even with an unknown result, without those that had no effect.
   * Infinite once the lock has ended.
   */
  const released = new Map<LockPath, number>();
  /** The same for releases of an unidentified lock. */
  const mayBeReleased = new Map<LockPath, number>();
  const ending = new AbortController();
  const cutOff = new AbortController();
  let isStopped = false;
  let end: RenewalEndReason | undefined;

  const releasesOf = ({ path }: Grant): number => (released.get(path) ?? 0) + (mayBeReleased.get(path) ?? 0);
  const isHeld = (grant: Grant): boolean => kept.has(grant.path) && releasesOf(grant) === 0;
  const isOver = (grant: Grant): boolean => releasesOf(grant) === Number.POSITIVE_INFINITY;

  function readNewEntries(): void {
    try {
      for (let entries = follow(); entries.length > 0; entries = follow()) entries.forEach(readEntry);
    } catch {
      // A ledger that cannot be read now may be readable later. Until then, the known locks are renewed.
    }
  }

  function readEntry(entry: Entry): void {
    if (entry.kind === 'releasing' || entry.kind === 'ended') {
      const isOurs = isAboutOurs(entry);
      if (isOurs === false) return;
      const releases = isOurs ? released : mayBeReleased;
      const change = entry.kind === 'ended' ? Number.POSITIVE_INFINITY : entry.failed === true ? -1 : 1;
      releases.set(entry.path, Math.max(0, (releases.get(entry.path) ?? 0) + change));
    } else if (entry.kind === 'lease-ended') {
      const ended = kept.values().filter(({ lock }) => lock.lease === entry.lease);
      for (const { path } of ended) released.set(path, Number.POSITIVE_INFINITY);
    } else if ('step' in entry && entry.step === step) {
      if (entry.kind === 'step-ended') isStopped = true;
      // Earlier lines are about earlier locks, whose ids and ETags some services reuse.
      if (entry.kind === 'step-started') released.clear();
      // Written by this process. Without this line, the next renewal would record the loss.
      if (entry.kind === 'lost') kept.delete(entry.path);
      // Before this line, the step waited for earlier locks on its paths.
      if (entry.kind === 'acquired') mayBeReleased.clear();
    }
  }

  /** Without a key, as for a looked-up or passed lock, its id or ETag decides. Undefined if they cannot. */
  function isAboutOurs(entry: Extract<Entry, { kind: 'releasing' | 'ended' }>): boolean | undefined {
    const grant = kept.get(entry.path);
    if (grant === undefined || entry.service !== service || entry.workspace !== workspace) return false;
    return entry.key === undefined ? isSameLock(entry, grant.lock) : entry.key === grant.key;
  }

  function endReason(): RenewalEndReason | undefined {
    if (isStopped) return 'stopped';
    if (isWorkerGone()) return 'worker-gone';
    if (kept.values().every(isOver)) return 'nothing-left';
    return clock() - startedAt > maxAgeMs ? 'too-old' : undefined;
  }

  return {
    kept,
    /** Aborted when no further renewals may start. */
    ending: ending.signal,
    /** Aborted when pending requests must end, too. */
    cutOff: cutOff.signal,
    /** Held, or being released. The service may refuse the release, and the lock must be renewed again then. */
    remaining: (): readonly Grant[] => [...kept.values()].filter((grant) => !isOver(grant)),
    end: () => end,
    readNewEntries,
    /** Whether the lock must still be renewed. */
    isHeld,
    look(): void {
      // A pending request may still have to release a lock, so it ends with the job, not with the last lock.
      if (end !== undefined && end !== 'nothing-left') return;
      readNewEntries();
      end = endReason() ?? end;
      if (end === undefined) return;
      ending.abort();
      // Without a worker, nobody releases the locks, and each renewal would only make others wait longer.
      if (end === 'worker-gone') cutOff.abort();
      else if (end !== 'nothing-left') void sleep(graceMs).then(() => cutOff.abort());
    },
  };
}
