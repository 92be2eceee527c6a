import { readFileSync } from 'node:fs';
import type { Grant, Intent } from '../ledger/entry.ts';
import { type GrantedLock, isGrantedLock } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { outstanding } from '../ledger/outstanding.ts';

/** What a step has to release, and how well that is known. */
export interface Claims {
  readonly held: readonly Grant[];
  readonly unclear: readonly Intent[];
  /** What was wrong with the records, as sentences. */
  readonly troubles: readonly string[];
}

export interface Records {
  readonly ledger: Ledger;
  readonly step: string;
  /** The file that the step wrote when it had all its locks. */
  readonly locksFile: string;
  /** The service and the workspace that the step asked, for records that do not name them. */
  readonly service: string;
  readonly workspace: string;
}

function locksIn(file: string): readonly GrantedLock[] {
  try {
    const locks: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(locks) ? locks.filter(isGrantedLock) : [];
  } catch {
    return [];
  }
}

const isProven = ({ etag, id }: GrantedLock): boolean => etag !== undefined || id !== undefined;

const sameLock = (one: GrantedLock, other: GrantedLock): boolean =>
  one.path === other.path && (one.etag ?? one.id) === (other.etag ?? other.id);

/**
 * Reads the ledger. Where lines of it are missing, the step's file of locks stands in: what it names can be released
 * without harm, because every release says which lock is meant.
 */
export function readClaims({ ledger, step, locksFile, service, workspace }: Records): Claims {
  const fromFile = (known: readonly Grant[]): readonly Grant[] =>
    locksIn(locksFile)
      .filter((lock) => isProven(lock) && !known.some((grant) => sameLock(grant.lock, lock)))
      .map((lock) => ({
        kind: 'granted',
        service,
        workspace,
        path: lock.path,
        step,
        at: lock.acquired_at ?? '',
        key: '',
        autoRelease: true,
        lock,
      }));

  try {
    const { entries, damaged } = ledger.read();
    const { held, unclear } = outstanding(entries, step);
    if (damaged === 0) return { held, unclear, troubles: [] };
    const trouble = `${damaged === 1 ? 'A line' : `${damaged} lines`} of the ledger in ${ledger.file} cannot be read. What the rest of it and the step's own file of locks name is released.`;
    return { held: [...held, ...fromFile(held)], unclear, troubles: [trouble] };
  } catch (error) {
    const held = fromFile([]);
    const why = error instanceof Error ? error.message : String(error);
    const rest =
      held.length > 0
        ? "What the step's own file of locks names is released."
        : 'Nothing else tells which locks the step had: those it had stay until their ttl ends.';
    return { held, unclear: [], troubles: [`The ledger of this job's locks cannot be read (${why}). ${rest}`] };
  }
}
