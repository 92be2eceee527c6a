import type { Ending, Entry, Grant, GrantedLock, Intent, Place, Releasing } from './entry.ts';

export interface HeldLock {
  readonly grant: Grant;
  /** Its release was begun, and how that went was never learned. */
  readonly releaseBegun: boolean;
}

/** What became of everything that the steps of a job have asked for. */
export interface History {
  /** Granted, and not known to have ended. */
  readonly held: readonly HeldLock[];
  /** Asked for, and never answered as far as the ledger knows. */
  readonly unclear: readonly Intent[];
  /** The last grant of each step and path, also of locks that have ended since. */
  readonly grants: readonly Grant[];
}

export const samePlace = (one: Place, other: Place): boolean =>
  one.service === other.service && one.workspace === other.workspace && one.path === other.path;

/** Whether an entry is about this lock. One that names none is about whatever was held there. */
export function isAbout({ etag, id }: Releasing | Ending, lock: GrantedLock): boolean {
  if (etag !== undefined && lock.etag !== undefined) return etag === lock.etag;
  if (id !== undefined && lock.id !== undefined) return id === lock.id;
  return true;
}

const keyOf = ({ service, workspace, path }: Place): string => JSON.stringify([service, workspace, path]);

/** Reads entries in their order: later ones say what became of earlier ones. */
export function historyOf(entries: readonly Entry[]): History {
  const unclear = new Map<string, Intent>();
  const held = new Map<string, readonly HeldLock[]>();
  const grants = new Map<string, Grant>();
  const heldAt = (place: Place): readonly HeldLock[] => held.get(keyOf(place)) ?? [];
  for (const entry of entries) {
    switch (entry.kind) {
      case 'wish':
        break;
      case 'intent':
        unclear.set(entry.key, entry);
        break;
      case 'denied':
        unclear.delete(entry.key);
        break;
      case 'granted': {
        unclear.delete(entry.key);
        // What was asked for again under its key is the same lock.
        const others = heldAt(entry).filter(({ grant }) => grant.key !== entry.key);
        held.set(keyOf(entry), [...others, { grant: entry, releaseBegun: false }]);
        grants.set(`${entry.step} ${keyOf(entry)}`, entry);
        break;
      }
      case 'releasing':
        held.set(
          keyOf(entry),
          heldAt(entry).map((lock) => (isAbout(entry, lock.grant.lock) ? { ...lock, releaseBegun: true } : lock)),
        );
        break;
      case 'ended':
        held.set(
          keyOf(entry),
          heldAt(entry).filter(({ grant }) => !isAbout(entry, grant.lock)),
        );
        break;
    }
  }
  return {
    held: [...held.values()].flat(),
    unclear: [...unclear.values()],
    grants: [...grants.values()],
  };
}
