import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Creates a private folder that survives a power failure: SQLite flushes only the folder of its files (fsync(2)). */
export function makeFolder(folder: string): void {
  let path = resolve(folder);
  if (make(path) === undefined) return;
  for (; path !== dirname(path); path = dirname(path)) flushFolder(dirname(path));
}

/** Ignores errors, as SQLite does: some file systems cannot flush a folder, and some folders are not readable. */
export function flushFolder(folder: string): void {
  try {
    const opened = openSync(folder, 'r');
    try {
      fsyncSync(opened);
    } finally {
      closeSync(opened);
    }
  } catch {}
}

const mode = 0o700;

function make(path: string): string | undefined {
  try {
    return mkdirSync(path, { recursive: true, mode });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') throwReason(path);
    throw error;
  }
}

/** On a read-only disk, a recursive mkdir fails with ENOENT. Without `recursive`, the error has the real reason. */
function throwReason(path: string): void {
  let missing = path;
  while (!existsSync(dirname(missing))) missing = dirname(missing);
  mkdirSync(missing, { mode });
}
