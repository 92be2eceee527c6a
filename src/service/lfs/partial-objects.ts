import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { namesIn, unlessMissing } from '../platform/missing-file.ts';
import { openHashedFile } from './hashed-file.ts';
import type { ObjectName, Oid } from './oid.ts';

/** An object that is being downloaded. It has a single writer. */
export type PartialObject = Awaited<ReturnType<typeof openPartialObject>>;

type StoreFile = (path: string, oid: Oid) => Promise<void>;

const partialRetentionMs = 7 * 24 * 60 * 60 * 1_000;

/**
 * In the folder, `<oid>` is a partial object without a writer, and `<oid>.<id>` one with a running or killed writer. A
 * process resumes the first kind by renaming it, and the second kind by copying it, so that later writes of the other
 * process do not reach the copy.
 */
export function createPartialObjects(folder: string, storeFile: StoreFile) {
  return {
    /** Starts or resumes the download of an object. */
    openPartial: (object: ObjectName) => openPartialObject(folder, object, storeFile),
    /** Keeps only the largest part of each object, for the next download. No process may be writing to the folder. */
    async keepLargestPartials(): Promise<void> {
      for (const [oid, names] of Map.groupBy(await namesIn(folder), (name) => name.replace(/\..*/, ''))) {
        // Not ours, such as .nfs… of a file that is still open.
        if (oid === '') continue;
        const parts = names.map((name) => join(folder, name));
        const largest = await largestOf(parts);
        for (const part of parts) if (part !== largest) await rm(part, { force: true });
        if (largest !== undefined) await rename(largest, join(folder, oid));
      }
    },
    async removeOldPartials(): Promise<void> {
      for (const name of await namesIn(folder)) {
        const path = join(folder, name);
        const found = await unlessMissing(stat(path));
        if (found !== undefined && Date.now() - found.mtimeMs > partialRetentionMs) await rm(path, { force: true });
      }
    },
  };
}

async function openPartialObject(folder: string, { oid, size }: ObjectName, storeFile: StoreFile) {
  const path = join(folder, `${oid}.${randomUUID()}`);
  const others = await resumeAt(path, folder, oid);
  const file = await openHashedFile(path, size);
  let isOpen = true;

  async function finish() {
    if (file.length < size) return 'incomplete' as const;
    const isIntact = file.hash() === oid;
    // Synced before the rename: after a power failure, the object is complete or absent.
    if (isIntact) await file.sync();
    isOpen = false;
    await file.close();
    if (isIntact) await storeFile(path, oid);
    for (const done of isIntact ? others : [path]) await rm(done, { force: true });
    return isIntact ? ('stored' as const) : ('wrong-content' as const);
  }

  /** Keeps the bytes for the next download. Has no effect after `store`. */
  async function close(): Promise<void> {
    if (!isOpen) return;
    isOpen = false;
    await file.flush().finally(file.close);
    if (file.length === 0) await rm(path, { force: true });
    else await unlessMissing(rename(path, join(folder, oid)));
  }

  return {
    /** Number of bytes present. */
    get offset(): number {
      return file.length;
    },
    /** Throws if these are more than the missing bytes. */
    write: file.append,
    restart: file.clear,
    /**
     * Stores the object if it is complete and matches its hash, and closes it in any case. `incomplete`: bytes are
     * missing, and the partial object is kept. `wrong-content`: the content has another hash and was removed.
     */
    store: () => finish().finally(close),
    close,
  };
}

/** Puts the bytes of an earlier download at the path. Returns the files of other downloads, running or killed. */
async function resumeAt(path: string, folder: string, oid: Oid): Promise<readonly string[]> {
  const names = (await namesIn(folder)).filter((name) => name.startsWith(oid));
  const others = names.filter((name) => name !== oid).map((name) => join(folder, name));
  const isTaken = names.includes(oid) && (await unlessMissing(rename(join(folder, oid), path).then(() => true)));
  const largest = isTaken ? undefined : await largestOf(others);
  if (largest !== undefined) await unlessMissing(copyFile(largest, path, constants.COPYFILE_FICLONE));
  return others;
}

async function largestOf(parts: readonly string[]): Promise<string | undefined> {
  const sizes = await Promise.all(parts.map(async (part) => (await unlessMissing(stat(part)))?.size ?? 0));
  return parts[sizes.indexOf(Math.max(...sizes))];
}
