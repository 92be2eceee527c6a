import { parseLockPath } from '../../interface/lock-path.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

/** Opaque to clients, so that what it says can change. */
export const writeCursor = (lastPath: string): string => Buffer.from(lastPath).toString('base64url');

export function readCursor(cursor: string): Parsed<string> {
  const path = Buffer.from(cursor, 'base64url').toString();
  return writeCursor(path) === cursor && parseLockPath(path).ok
    ? accepted(path)
    : refused('It is not a cursor of this list. Begin again without one.');
}
