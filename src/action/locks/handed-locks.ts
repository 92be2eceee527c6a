import { canonicalLockPath, type LockPath, parseHeldPath } from '../../interface/lock-path.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

/** A lock as another step, or another job, handed it on. */
export interface HandedLock {
  readonly path: LockPath;
  readonly id: string | undefined;
  readonly etag: string | undefined;
  readonly owner: string | undefined;
  readonly acquired_at: string | undefined;
  readonly expires_at: string | undefined;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

function readHanded(entry: unknown): HandedLock | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  // An object that JSON made has nothing but string keys.
  const fields = entry as Readonly<Record<string, unknown>>;
  const path = canonicalLockPath(textOf(fields['path']) ?? '', parseHeldPath);
  if (!path.ok) return undefined;
  return {
    path: path.value,
    id: textOf(fields['id']),
    etag: textOf(fields['etag']),
    owner: textOf(fields['owner']),
    acquired_at: textOf(fields['acquired_at']),
    expires_at: textOf(fields['expires_at']),
  };
}

/** The `locks` output of a lock step. One entry that is wrong makes it all wrong: a lock would be forgotten. */
export function readHandedLocks(json: string): Parsed<readonly HandedLock[]> {
  let entries: unknown;
  try {
    entries = JSON.parse(json);
  } catch {
    return refused('It is not JSON. Give it the output `locks` of a lock step as it is.');
  }
  if (!Array.isArray(entries))
    return refused('It is not a JSON list. Give it the output `locks` of a lock step as it is.');
  const locks: HandedLock[] = [];
  for (const [index, entry] of entries.entries()) {
    const lock = readHanded(entry);
    if (lock === undefined) return refused(`Its entry ${index + 1} is no lock: it has no valid path.`);
    locks.push(lock);
  }
  return accepted(locks);
}
