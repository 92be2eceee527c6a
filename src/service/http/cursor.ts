import { maxLockPathBytes, parseHeldPath } from '../../interface/lock-path.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

/** Opaque to clients, so that what it says can change. */
export const writeCursor = (lastPath: string): string => Buffer.from(lastPath).toString('base64url');

/** RFC 4648: three bytes are four characters. */
export const longestCursor = Math.ceil((4 * maxLockPathBytes) / 3);

const notOurs = refused('It is not a cursor of this list. Begin again without one.');

export function readCursor(cursor: string): Parsed<string> {
  if (cursor.length > longestCursor) return notOurs;
  const path = Buffer.from(cursor, 'base64url').toString();
  return writeCursor(path) === cursor && parseHeldPath(path).ok ? accepted(path) : notOurs;
}
