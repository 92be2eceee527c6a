import { readFileSync } from 'node:fs';
import { asObject, isArray, type Json, nameIn, parseJson } from '../../client/json.ts';
import { isEtag, readLock } from '../../client/known-lock.ts';
import { createSanitizer } from '../../client/sanitizer.ts';
import { errorMessage } from '../../interface/format.ts';
import { canonicalLockPath, parseHeldPath } from '../../interface/lock-path.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { OurLock } from '../../locks/ownership.ts';

/** Parses the file that the output `locks_file` of a lock step names. */
export function parseHandoffFile(file: string): Parsed<readonly OurLock[]> {
  try {
    return parseHandoff(readFileSync(file, 'utf8'));
  } catch (error) {
    // Omits the path from the message, because the problem already shows it, truncated.
    return refused(`The file cannot be read: ${errorMessage(error).replace(/, open '.*$/s, '')}.`);
  }
}

/** Parses the `locks` output of a lock step. Refuses it for one invalid entry, whose lock would never be released. */
export function parseHandoff(json: string): Parsed<readonly OurLock[]> {
  const entries = parseJson(json);
  if (!entries.ok || !isArray(entries.value)) {
    return refused('It is not a JSON list. Pass the output `locks` of a lock step unchanged.');
  }
  const locks = entries.value.map(readHandoffLock);
  return locks.every((lock) => lock !== undefined)
    ? accepted(locks)
    : refused(`Entry ${locks.indexOf(undefined) + 1} is not a lock: its path, id or ETag is not valid.`);
}

const sanitizer = createSanitizer([]);

/** Refuses an invalid id or ETag: without it, the lock could not be distinguished from a later one. */
function readHandoffLock(entry: Json): OurLock | undefined {
  const fields = asObject(entry);
  const path = canonicalLockPath(nameIn(fields['path']) ?? '', parseHeldPath);
  if (!path.ok) return undefined;
  const { note, origin, raw, ...lock } = readLock(fields, path.value, sanitizer);
  const { id, lock_id, etag } = fields;
  if (lock.id === undefined && (id || lock_id)) return undefined;
  if (etag && (typeof etag !== 'string' || !isEtag(etag))) return undefined;
  // As the service sent it: with other quotes, an ETag would not match.
  const asSent = { etag: nameIn(etag), lease: nameIn(fields['lease']) };
  return { grant: { path: path.value, lock: { ...lock, ...asSent } }, mayBeReleased: false };
}
