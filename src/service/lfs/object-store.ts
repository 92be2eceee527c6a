import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, type FileHandle, mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isMissing, unlessMissing } from '../platform/missing-file.ts';
import { workspaceFolder, workspaceOfFolder } from '../platform/workspace-folder.ts';
import { type ObjectName, type Oid, parseOid } from './oid.ts';

/** Ids of the workspaces that have a folder of objects. */
export const storedWorkspaces = async (dataFolder: string): Promise<readonly string[]> =>
  (await namesIn(objectsFolder(dataFolder))).flatMap((folder) => workspaceOfFolder(folder) ?? []);

export interface StoredObject {
  readonly path: string;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly lastUsedAt: number;
}

export type ListedObject = ObjectName & Pick<StoredObject, 'lastUsedAt'>;

export type ObjectStore = ReturnType<typeof createObjectStore>;

/** An object that is being downloaded. It has a single writer. */
export type PartialObject = Awaited<ReturnType<ObjectStore['openPartial']>>;

const keptPartialMs = 7 * 24 * 60 * 60 * 1_000;
const writtenAtOnce = 512 * 1_024;

interface PartialFiles {
  /** File of this download. `left` is its name for the next download to resume. */
  readonly path: string;
  readonly left: string;
  /** Files of other downloads of the object, running or killed. */
  readonly parts: readonly string[];
}

/** Recorded times of use can be this old: frequent uses of an object are not all recorded. */
export const useIsNotedWithinMs = 10 * 60 * 1_000;

/**
 * Objects of a workspace on disk, each complete or absent. Instances may share the folder.
 *
 * Complete objects are stored in the layout of Git LFS: `objects/ab/cd/abcd…`. In `incomplete`, `<oid>` is a partial
 * object without a writer, and `<oid>.<id>` one with a running or killed writer. A process resumes the first kind by
 * renaming it, and the second kind by copying it, so that later writes of the other process do not reach the copy.
 */
export function createObjectStore(dataFolder: string, workspace: string) {
  const root = storeFolder(dataFolder, workspace);
  const objects = join(root, 'objects');
  const incomplete = join(root, 'incomplete');
  const pathOf = (oid: Oid): string => join(objects, oid.slice(0, 2), oid.slice(2, 4), oid);

  async function find(oid: Oid): Promise<StoredObject | undefined> {
    const path = pathOf(oid);
    const found = await unlessMissing(stat(path));
    return found && { path, size: found.size, lastUsedAt: found.mtimeMs };
  }

  /** Does not find a file of another size, which is damaged. */
  async function findIntact({ oid, size }: ObjectName): Promise<StoredObject | undefined> {
    const found = await find(oid);
    return found?.size === size ? found : undefined;
  }

  /** Records that the object is used now. */
  async function touch(oid: Oid): Promise<void> {
    const now = new Date();
    await unlessMissing(utimes(pathOf(oid), now, now));
  }

  /** Creates the parent folder only after a failure, because it is rarely missing. */
  async function withFolder<T>(path: string, work: () => Promise<T>): Promise<T> {
    return work().catch(async (error: unknown) => {
      if (!isMissing(error)) throw error;
      await mkdir(dirname(path), { recursive: true });
      return work();
    });
  }

  async function largestOf(parts: readonly string[]): Promise<string | undefined> {
    const sizes = await Promise.all(parts.map(async (part) => (await unlessMissing(stat(part)))?.size ?? 0));
    return parts[sizes.indexOf(Math.max(...sizes))];
  }

  /** Starts or resumes the download of an object. */
  async function openPartial(object: ObjectName) {
    const { oid } = object;
    const left = join(incomplete, oid);
    const path = join(incomplete, `${oid}.${randomUUID()}`);
    const names = (await namesIn(incomplete)).filter((name) => name.startsWith(oid));
    const parts = names.filter((name) => name !== oid).map((name) => join(incomplete, name));
    const isTaken = names.includes(oid) && (await unlessMissing(rename(left, path).then(() => true))) === true;
    const largest = isTaken ? undefined : await largestOf(parts);
    if (largest !== undefined) await unlessMissing(copyFile(largest, path, constants.COPYFILE_FICLONE));
    const file = await withFolder(path, () => open(path, constants.O_RDWR | constants.O_CREAT, 0o600));
    try {
      return await partial(file, object, { path, left, parts });
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async function partial(file: FileHandle, { oid, size }: ObjectName, { path, left, parts }: PartialFiles) {
    let hash = createHash('sha256');
    let offset = 0;
    let isOpen = true;
    /** Bytes not yet in the file: chunks are collected and written together. */
    let unwritten: Uint8Array[] = [];
    let unwrittenBytes = 0;

    async function flush(): Promise<void> {
      if (unwrittenBytes === 0) return;
      const [pieces, length] = [unwritten, unwrittenBytes];
      unwritten = [];
      unwrittenBytes = 0;
      const { bytesWritten } = await file.writev(pieces, offset - length);
      if (bytesWritten < length) throw Object.assign(new Error('Not all of it was written.'), { code: 'ENOSPC' });
    }

    /** Discards all bytes. */
    async function restart(): Promise<void> {
      await file.truncate(0);
      hash = createHash('sha256');
      offset = 0;
      unwritten = [];
      unwrittenBytes = 0;
    }

    async function finish() {
      if (offset < size) return 'incomplete' as const;
      if (hash.digest('hex') !== oid) {
        isOpen = false;
        await file.close();
        await rm(path, { force: true });
        return 'wrong-content' as const;
      }
      await flush();
      // Synced before the rename: after a power failure, the object is complete or absent.
      await file.sync();
      isOpen = false;
      await file.close();
      const target = pathOf(oid);
      await withFolder(target, () => rename(path, target)).catch(async (error: unknown) => {
        // Another process has stored the object and removed this file.
        if (!isMissing(error) || (await find(oid)) === undefined) throw error;
      });
      for (const part of parts) await rm(part, { force: true });
      return 'stored' as const;
    }

    /** Keeps the bytes for the next download. Has no effect after `store`. */
    async function close(): Promise<void> {
      if (!isOpen) return;
      isOpen = false;
      await flush().finally(() => file.close());
      if (offset === 0) await rm(path, { force: true });
      else await unlessMissing(rename(path, left));
    }

    const present = await file.stat();
    if (present.size > size) await restart();
    else if (present.size > 0) {
      for await (const bytes of file.createReadStream({ start: 0, autoClose: false })) {
        hash.update(bytes);
        offset += bytes.length;
      }
    }
    return {
      /** Number of bytes present. */
      get offset(): number {
        return offset;
      },
      /** Appends bytes. Throws if these are more than the missing bytes. */
      async write(bytes: Uint8Array): Promise<void> {
        if (offset + bytes.length > size) throw new RangeError('These are more bytes than the object has.');
        hash.update(bytes);
        unwritten.push(bytes);
        unwrittenBytes += bytes.length;
        offset += bytes.length;
        if (unwrittenBytes >= writtenAtOnce) await flush();
      },
      restart,
      /**
       * Stores the object if it is complete and matches its hash, and closes it in any case. `incomplete`: bytes are
       * missing, and the partial object is kept. `wrong-content`: the content has another hash and was removed.
       */
      async store() {
        const landing = await finish();
        await close();
        return landing;
      },
      close,
    };
  }

  return {
    find,
    findIntact,
    /** Finds an object for use, and records the use unless another was recorded in the last minutes. */
    async use(object: ObjectName): Promise<StoredObject | undefined> {
      const found = await findIntact(object);
      if (found !== undefined && Date.now() - found.lastUsedAt > useIsNotedWithinMs) await touch(object.oid);
      return found;
    },
    openPartial,
    touch,
    async *list(): AsyncGenerator<ListedObject> {
      for (const first of await namesIn(objects)) {
        for (const second of await namesIn(join(objects, first))) {
          for (const name of await namesIn(join(objects, first, second))) {
            const oid = parseOid(name);
            if (!oid.ok) continue;
            const found = await find(oid.value);
            if (found !== undefined) yield { oid: oid.value, ...found };
          }
        }
      }
    },
    remove: (oid: Oid): Promise<void> => rm(pathOf(oid), { force: true }),
    /** Keeps only the largest part of each object, for the next download. No process may be writing to the folder. */
    async keepLargestPartials(): Promise<void> {
      for (const [oid, names] of Map.groupBy(await namesIn(incomplete), (name) => name.replace(/\..*/, ''))) {
        // Not ours, such as .nfs… of a file that is still open.
        if (oid === '') continue;
        const parts = names.map((name) => join(incomplete, name));
        const largest = await largestOf(parts);
        for (const part of parts) if (part !== largest) await rm(part, { force: true });
        if (largest !== undefined) await rename(largest, join(incomplete, oid));
      }
    },
    /** Removes partial objects that were not written to for a week. */
    async removeOldPartials(): Promise<void> {
      for (const name of await namesIn(incomplete)) {
        const path = join(incomplete, name);
        const found = await unlessMissing(stat(path));
        if (found !== undefined && Date.now() - found.mtimeMs > keptPartialMs) await rm(path, { force: true });
      }
    },
  };
}

/** Removes the objects of a workspace that was removed. */
export const removeObjects = (dataFolder: string, workspace: string): Promise<void> =>
  rm(storeFolder(dataFolder, workspace), { recursive: true, force: true, maxRetries: 3 });

const namesIn = async (folder: string): Promise<readonly string[]> => (await unlessMissing(readdir(folder))) ?? [];

const storeFolder = (dataFolder: string, workspace: string): string =>
  join(objectsFolder(dataFolder), workspaceFolder(workspace));

export const objectsFolder = (dataFolder: string): string => join(resolve(dataFolder), 'lfs');
