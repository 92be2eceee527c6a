import type { Ending, Entry, Grant, Intent } from './entry.ts';

/** What a step still has to answer for. */
export interface Outstanding {
  /** Granted, and not known to have ended. */
  readonly held: readonly Grant[];
  /** Asked for, and never answered as far as the ledger knows. */
  readonly unclear: readonly Intent[];
}

const placeOf = ({ service, workspace, path }: Entry): string => JSON.stringify([service, workspace, path]);

/** An ending names the lock where it can; one that names none ends whatever was held there before. */
function ends(ending: Ending, { lock }: Grant): boolean {
  if (ending.etag !== undefined && lock.etag !== undefined) return ending.etag === lock.etag;
  if (ending.id !== undefined && lock.id !== undefined) return ending.id === lock.id;
  return true;
}

/** Reads the ledger in its order: later lines say what became of earlier ones. */
export function outstanding(entries: readonly Entry[], step: string): Outstanding {
  const unclear = new Map<string, Intent>();
  const held = new Map<string, Grant[]>();
  for (const entry of entries) {
    const place = placeOf(entry);
    switch (entry.kind) {
      case 'intent':
        if (entry.step === step && entry.autoRelease) unclear.set(entry.key, entry);
        break;
      case 'denied':
        unclear.delete(entry.key);
        break;
      case 'granted':
        unclear.delete(entry.key);
        if (entry.step === step && entry.autoRelease) held.set(place, [...(held.get(place) ?? []), entry]);
        break;
      case 'ended':
        held.set(
          place,
          (held.get(place) ?? []).filter((grant) => !ends(entry, grant)),
        );
        break;
    }
  }
  return { held: [...held.values()].flat(), unclear: [...unclear.values()] };
}
