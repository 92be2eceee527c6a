import { mkdir, rm, stat, utimes } from 'node:fs/promises';
import { resolve } from 'node:path';
import { namesIn, unlessMissing } from '../platform/missing-file.ts';
import { type ObjectName, type Oid, parseOid } from './pointer.ts';

/** A workspace. */
export interface StoreOwner {
  readonly id: string;
  readonly created_at: number;
}

export interface StoredObject {
  readonly path: string;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly lastUsedAt: number;
}

export type ListedObject = ObjectName & Pick<StoredObject, 'lastUsedAt'>;

export type ObjectStore = ReturnType<typeof createObjectStore>;

/** Recorded times of use can be this old, because frequent uses of an object are not all recorded. */
const lastUsePrecisionMs = 10 * 60 * 1_000;

/** Objects of a workspace on disk, each complete or missing, in the layout of Git LFS: `objects/ab/cd/abcd…`. */
export function createObjectStore(dataFolder: string, workspace: StoreOwner) {
  const objects = resolve(objectsFolder(dataFolder), storeName(workspace), 'objects');
  const pathOf = (oid: Oid): string => resolve(objects, oid.slice(0, 2), oid.slice(2, 4), oid);

  async function find(oid: Oid): Promise<StoredObject | undefined> {
    const path = pathOf(oid);
    const found = await unlessMissing(stat(path));
    return found && { path, size: found.size, lastUsedAt: found.mtimeMs };
  }

  /** Ignores a file of the wrong size. A power failure can leave one: file systems write the size after the content. */
  async function findIntact({ oid, size }: ObjectName): Promise<StoredObject | undefined> {
    const found = await find(oid);
    return found?.size === size ? found : undefined;
  }

  return {
    find,
    findIntact,
    /** Finds an object for use, and records the use, unless one was recorded a few minutes ago. */
    async use(object: ObjectName): Promise<StoredObject | undefined> {
      const found = await findIntact(object);
      const now = new Date();
      if (found !== undefined && now.getTime() - found.lastUsedAt > lastUsePrecisionMs)
        await unlessMissing(utimes(found.path, now, now));
      return found;
    },
    /** Creates the folder, and returns its path. */
    async folder(): Promise<string> {
      await mkdir(objects, { recursive: true, mode: 0o700 });
      return objects;
    },
    async *list(): AsyncGenerator<ListedObject> {
      for (const first of await namesIn(objects)) {
        for (const second of await namesIn(resolve(objects, first))) {
          for (const name of await namesIn(resolve(objects, first, second))) {
            const oid = parseOid(name);
            if (!oid.ok) continue;
            const found = await find(oid.value);
            if (found !== undefined) yield { oid: oid.value, ...found };
          }
        }
      }
    },
    remove: (oid: Oid): Promise<void> => rm(pathOf(oid), { force: true }),
  };
}

/**
 * The name of a workspace's folder. A later workspace with the same id has another one: only the instance that removed
 * the workspace removed the objects, and other instances must not serve them for the new one.
 */
export const storeName = ({ id, created_at }: StoreOwner): string => `${id}@${created_at}`;

/** The names of all stores, with the ids of their workspaces. */
export const listStores = async (dataFolder: string) =>
  (await namesIn(objectsFolder(dataFolder))).map((name) => ({ name, id: name.replace(/@\d+$/, '') }));

export const removeStore = (dataFolder: string, name: string): Promise<void> =>
  rm(resolve(objectsFolder(dataFolder), name), { recursive: true, force: true, maxRetries: 3 });

const objectsFolder = (dataFolder: string): string => resolve(dataFolder, 'lfs');
