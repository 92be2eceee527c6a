import { expect } from 'vitest';
import type { Entry } from '../../../../src/action/ledger/entry.ts';
import type { Lock } from '../../../../src/interface/resources.ts';
import type { Job } from '../../../support/runner/job.ts';
import { entriesOf } from '../ledger.ts';
import { soak } from '../place.ts';
import type { Stage } from '../stage.ts';
import type { Book } from './book.ts';

/** How much faster time is for the steps, and from when on. */
export const faster = { times: 10, since: Date.now() };

/** The renewer has two thirds of it to recover from any trouble. Soak tests have the machine to themselves. */
const shortTtlSeconds = soak ? 60 : 120;
/** As steps are given it, and how long it really is. */
export const shortTtl = `${shortTtlSeconds}s`;
export const shortTtlMs = (shortTtlSeconds * 1_000) / faster.times;

/** A renewal may be on its way, and a busy machine slow. */
const graceMs = soak ? 3_000 : 20_000;

/** All others live for minutes. */
export const isShort = ({ expires_at }: Lock): boolean => Date.parse(expires_at) - Date.now() < 2 * shortTtlMs;

/** The ids of the locks that the service has refused to renew, as the job has it in its ledger. */
export function refusedRenewals(job: Job): ReadonlySet<string> {
  let entries: readonly Entry[];
  try {
    entries = entriesOf(job);
  } catch {
    return new Set();
  }
  const ids = new Map(entries.flatMap((entry) => (entry.kind === 'granted' ? [[entry.key, entry.lock.id]] : [])));
  return new Set(entries.flatMap((entry) => (entry.kind === 'lost' ? [ids.get(entry.key) ?? ''] : [])));
}

/** Settled when the ledger of the job has these as lost, as it has to be soon after. */
export async function toldInLedger(job: Job, ids: readonly string[]): Promise<void> {
  const missing = (): readonly string[] => ids.filter((id) => !refusedRenewals(job).has(id));
  await expect.poll(missing, { timeout: shortTtlMs + graceMs, interval: 50 }).toEqual([]);
}

/** Locks with a short ttl, and whether anything keeps them. */
export interface ShortLocks {
  /** Looks at them, and keeps book of those that have ended: what nothing renews has to be gone in time. */
  look(): Promise<void>;
  /** None of the job, and none on these paths, may end by itself. */
  areKept(origin: string, paths: readonly string[]): boolean;
  isKept(id: string): boolean;
  /** Nothing renews the lock from now on. Those that live longer are left alone. */
  endSoon(locks: readonly Lock[]): void;
  /** It is not known whether these can be renewed in time. */
  doubt(locks: readonly Lock[]): void;
  /** Settled when all have ended that nothing renews. */
  ended(): Promise<void>;
}

export function watchShortLocks(stage: Stage, book: Book): ShortLocks {
  /** Of those that a killed step has left it is not known what renews them: they have no time to be gone by. */
  const unkept = new Map<string, { readonly lock: Lock; readonly until: number | undefined }>();

  async function look(): Promise<void> {
    const standing = await stage.locks();
    for (const [id, { lock, until = Number.POSITIVE_INFINITY }] of unkept) {
      if (standing.some((one) => one.id === id)) {
        expect(Date.now(), `a lock on ${lock.path} that nothing renews has ended`).toBeLessThan(until);
        continue;
      }
      unkept.delete(id);
      book.broke(lock, 'ran-out');
    }
    for (const lock of standing.filter(isShort)) {
      if (!unkept.has(lock.id) && !book.isCounted(lock.id)) unkept.set(lock.id, { lock, until: undefined });
    }
  }

  return {
    look,
    areKept: (origin, paths) =>
      unkept.values().every(({ lock }) => lock.origin !== origin && !paths.includes(lock.path)),
    isKept: (id) => !unkept.has(id),
    endSoon(locks) {
      const until = Date.now() + shortTtlMs + graceMs;
      for (const lock of locks.filter(isShort)) {
        if (unkept.get(lock.id)?.until === undefined) unkept.set(lock.id, { lock, until });
      }
    },
    doubt(locks) {
      for (const lock of locks.filter(isShort)) {
        if (!unkept.has(lock.id)) unkept.set(lock.id, { lock, until: undefined });
      }
    },
    async ended() {
      const pending = async (): Promise<number> => {
        await look();
        return [...unkept.values()].filter(({ until }) => until !== undefined).length;
      };
      await expect.poll(pending, { timeout: 2 * (shortTtlMs + graceMs), interval: 100 }).toBe(0);
    },
  };
}
