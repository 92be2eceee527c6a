import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Creates a private folder that survives a power failure: SQLite flushes only the folder of its files (fsync(2)). */
export function makeFolder(folder: string): void {
  const path = resolve(folder);
  // `recursive` only if the folder exists: for a missing folder, such as one in /proc, it may never end.
  if (existsSync(path)) mkdirSync(path, { recursive: true });
  else makeMissing(path);
}

function makeMissing(path: string): void {
  const parent = dirname(path);
  if (!existsSync(parent)) makeMissing(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it just now.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
  flushFolder(parent);
}

/** Ignores errors, like SQLite: some file systems cannot flush a folder, and some folders are not readable. */
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
