import { maxLockPathBytes, parseHeldPath } from '../../interface/lock-path.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

/** The position in a list of locks. Opaque to clients, so that its content can change. */
export const writeCursor = (lastPath: string): string => Buffer.from(lastPath).toString('base64url');

/** RFC 4648: three bytes become four characters. */
export const maxCursorLength = Math.ceil((4 * maxLockPathBytes) / 3);

const notACursor = refused('It is not a cursor of this list. Start again without a cursor.');

export function readCursor(cursor: string): Parsed<string> {
  if (cursor.length > maxCursorLength) return notACursor;
  const path = Buffer.from(cursor, 'base64url').toString();
  return writeCursor(path) === cursor && parseHeldPath(path).ok ? accepted(path) : notACursor;
}
