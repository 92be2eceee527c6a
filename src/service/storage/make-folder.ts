import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes a folder for this user alone where there is none, so that a power cut does not take it away again with all that
 * was stored in it: SQLite flushes the folder of its files, and knows nothing of those above (fsync(2)).
 */
export function makeFolder(folder: string): void {
  const path = resolve(folder);
  const first = make(path);
  if (first === undefined) return;
  const top = dirname(first);
  let parent = path;
  do {
    parent = dirname(parent);
    flush(parent);
  } while (parent !== top && parent !== dirname(parent));
}

/** Not every file system lets a folder be flushed, and not every folder may be read: SQLite, too, goes on then. */
function flush(folder: string): void {
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
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') sayWhy(path);
    throw error;
  }
}

/** Node says of a folder on a read-only disk that it is not there, but for one that is made without those above it. */
function sayWhy(path: string): void {
  let missing = path;
  while (!existsSync(dirname(missing))) missing = dirname(missing);
  mkdirSync(missing, { mode });
}
