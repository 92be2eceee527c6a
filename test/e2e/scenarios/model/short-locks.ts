import { expect } from 'vitest';
import type { Entry } from '../../../../src/locks/ledger/entry.ts';
import type { Lock } from '../../../../src/service/contract/schemas.ts';
import { fasterTime, preload, slowerTimeouts } from '../../../support/preload.ts';
import type { Job } from '../../../support/runner/job.ts';
import { entriesOf } from '../ledger.ts';
import { type Stage, soak } from '../stage.ts';
import type { Book } from './book.ts';

/** Speed of time for the steps, and the time when that started. */
export const faster = { times: 10, since: Date.now() };

/**
 * A machine whose calendar runs faster by this factor from that moment on, in milliseconds since 1970. With
 * `fasterTime`, all its processes have the same time, whenever they were started.
 */
const fasterCalendar = (times: number, since: number): string =>
  preload(`
    globalThis.Date = class extends Date {
      constructor(...given) { if (given.length === 0) super(Date.now()); else super(...given); }
      static now() { return ${since} + ${times} * (super.now() - ${since}); }
    };
    const every = globalThis.setInterval;
    globalThis.setInterval = (work, ms = 0, ...given) => every(work, ms / ${times}, ...given);
  `);

/** The environment of the steps. */
export const env = {
  NODE_OPTIONS: `${fasterTime(faster.times)} ${fasterCalendar(faster.times, faster.since)} ${slowerTimeouts(15)}`,
};

/** The renewal process has two thirds of it to recover from errors. Soak tests run on an idle machine. */
const shortTtlSeconds = soak ? 60 : 120;
/** The ttl as steps receive it, and its real duration. */
export const shortTtl = `${shortTtlSeconds}s`;
export const shortTtlMs = (shortTtlSeconds * 1_000) / faster.times;

/** Tolerance for a renewal in progress, and for a busy machine. */
const graceMs = soak ? 3_000 : 20_000;

/** Whether the lock has a short ttl. All other locks live for minutes. */
export const isShort = ({ expires_at }: Lock): boolean => Date.parse(expires_at) - Date.now() < 2 * shortTtlMs;

/** Ids of the locks that the service refused to renew, from the ledger of the job. */
export function refusedRenewals(job: Job): ReadonlySet<string> {
  let entries: readonly Entry[];
  try {
    entries = entriesOf(job);
  } catch {
    return new Set();
  }
  // A service without ids has them as ETags.
  const ids = new Map(
    entries.flatMap((entry) => (entry.kind === 'granted' ? [[entry.key, entry.lock.id ?? entry.lock.etag]] : [])),
  );
  return new Set(entries.flatMap((entry) => (entry.kind === 'lost' ? [ids.get(entry.key) ?? ''] : [])));
}

/**
 * Resolves when the ledger of the job has these locks as lost, which must happen soon. A ledger that was deleted no longer
 * has the grants, whose ids a loss does not repeat.
 */
export async function toldInLedger(
  { job, ledgerGone }: { readonly job: Job; readonly ledgerGone: boolean },
  ids: readonly string[],
): Promise<void> {
  if (ledgerGone) return;
  const missing = (): readonly string[] => ids.filter((id) => !refusedRenewals(job).has(id));
  await expect.poll(missing, { timeout: shortTtlMs + graceMs, interval: 50 }).toEqual([]);
}

export type ShortLocks = ReturnType<typeof watchShortLocks>;

/** Locks with a short ttl, and whether they are renewed. */
export function watchShortLocks(stage: Stage, book: Book) {
  /** Locks left by a killed step may still be renewed, so they have no time limit. */
  const unkept = new Map<string, { readonly lock: Lock; readonly until: number | undefined }>();

  async function look(): Promise<void> {
    const standing = await stage.locks();
    for (const [id, { lock, until = Number.POSITIVE_INFINITY }] of unkept) {
      if (standing.some((one) => one.id === id)) {
        expect(Date.now(), `a lock on ${lock.path} that nothing renews has ended`).toBeLessThan(until);
        continue;
      }
      unkept.delete(id);
      book.broke(lock);
    }
    for (const lock of standing.filter(isShort)) {
      if (!unkept.has(lock.id) && !book.isCounted(lock.id)) unkept.set(lock.id, { lock, until: undefined });
    }
  }

  return {
    /** Updates the book with ended locks. Locks that are not renewed must expire in time. */
    look,
    /** Whether no lock of the job or on these paths may expire. */
    areKept: (origin: string, paths: readonly string[]) =>
      unkept.values().every(({ lock }) => lock.origin !== origin && !paths.includes(lock.path)),
    isKept: (id: string) => !unkept.has(id),
    /** Marks locks as no longer renewed. Locks with a long ttl are ignored. */
    endSoon(locks: readonly Lock[]): void {
      const until = Date.now() + shortTtlMs + graceMs;
      for (const lock of locks.filter(isShort)) {
        if (unkept.get(lock.id)?.until === undefined) unkept.set(lock.id, { lock, until });
      }
    },
    /** Marks locks that may no longer be renewed, such as those that a step has begun to release. */
    mayEnd(locks: readonly Lock[]): void {
      for (const lock of locks.filter(isShort)) {
        if (!unkept.has(lock.id)) unkept.set(lock.id, { lock, until: undefined });
      }
    },
    /** Resolves when all locks that are not renewed have expired. */
    async ended(): Promise<void> {
      const pending = async (): Promise<number> => {
        await look();
        return [...unkept.values()].filter(({ until }) => until !== undefined).length;
      };
      await expect.poll(pending, { timeout: 2 * (shortTtlMs + graceMs), interval: 100 }).toBe(0);
    },
  };
}
