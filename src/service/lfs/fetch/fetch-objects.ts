import type { Git } from '../../git/git.ts';
import { type FetchObjects, noObjects } from '../../syncs/lfs-objects.ts';
import { lfsMode } from '../../workspaces/lfs-settings.ts';
import { createObjectStore, type ObjectStore } from '../object-store.ts';
import type { ObjectName } from '../oid.ts';
import { type ReferencedObject, referencedObjects } from '../pointer.ts';
import { onDisk } from './download.ts';
import { type DownloadAllParts, downloadAll } from './download-all.ts';
import { openOffers } from './offers.ts';
import type { StoreParts } from './store.ts';

export interface FetchObjectsParts extends StoreParts, Pick<DownloadAllParts, 'dataFolder' | 'freeDisk'> {
  readonly git: Pick<Git, 'smallBlobs' | 'lfsAuthenticate'>;
  /** Number of bytes that fit within the limit of the workspace. */
  readonly remainingBytes: (workspace: string) => Promise<number>;
  /** Time without data after which a store counts as not responding. */
  readonly idleMs?: number;
  readonly backoffMs?: number;
}

const maxRemembered = 10_000;
const sshTimeout = { timeoutMs: 30_000 };

/** Fetches the missing LFS objects of a branch, and resumes the downloads of a killed process. */
export function createFetchObjects(parts: FetchObjectsParts): FetchObjects {
  const { git, dataFolder, remainingBytes, idleMs = 60_000, backoffMs = 500 } = parts;
  /** Scans without pointers, not repeated: most syncs find nothing new, and many repositories have no LFS objects. */
  const withoutPointers = new Set<string>();
  return async (sync, limits, onProgress) => {
    const { workspace, branch, head, settings } = sync;
    const { signal, timeoutMs } = limits;
    const mode = lfsMode(settings);
    if (mode === 'none') return noObjects;
    const objects = createObjectStore(dataFolder, workspace);

    async function objectsIn(of: 'head' | 'history'): Promise<readonly ReferencedObject[]> {
      const scan = `${of} ${head}`;
      if (withoutPointers.has(scan)) return [];
      const referenced = await referencedObjects(git, workspace, { commit: head, of }, limits);
      if (referenced.length === 0 && withoutPointers.size < maxRemembered) withoutPointers.add(scan);
      return referenced;
    }

    const needed = await objectsIn('head');
    const missing = await onDisk(missingObjects(needed, objects.use));
    if (mode === 'history') {
      const known = new Set(needed.map(keyOf));
      const earlier = (await objectsIn('history')).filter((object) => !known.has(keyOf(object)));
      let freeBytes = (await remainingBytes(workspace)) - sumOfSizes(missing);
      // Not recorded as used, so that they can be removed to make room.
      for (const object of await onDisk(missingObjects(earlier, objects.findIntact))) {
        if (object.size > freeBytes) continue;
        freeBytes -= object.size;
        missing.push(object);
      }
    }
    const wanted = { objects: missing.length, bytes: sumOfSizes(missing) };
    onProgress({ wanted, received: noObjects.received });
    if (missing.length === 0) return noObjects;

    const offers = await openOffers(parts, sync, { ...sshTimeout, signal, branch, idleMs, backoffMs });
    const options = { workspace, idleMs, backoffMs, maxSilenceMs: timeoutMs, signal };
    try {
      const fetched = await downloadAll({ ...parts, ...options, offers }, missing, (received) =>
        onProgress({ wanted, received }),
      );
      return { wanted, ...fetched };
    } finally {
      offers.close();
    }
  };
}

const parallelLookups = 64;

/** Objects of the pointers that are missing from the mirror. */
async function missingObjects(
  referenced: readonly ReferencedObject[],
  find: ObjectStore['findIntact'],
): Promise<ReferencedObject[]> {
  const missing: ReferencedObject[] = [];
  for (let at = 0; at < referenced.length; at += parallelLookups) {
    const some = referenced.slice(at, at + parallelLookups);
    const found = await Promise.all(some.map(find));
    missing.push(...some.filter((_, index) => found[index] === undefined));
  }
  return missing;
}

const keyOf = ({ oid, size }: ObjectName): string => `${oid} ${size}`;

/** Capped, because the sizes that pointers claim may add up to more than a safe integer. */
const sumOfSizes = (objects: readonly ObjectName[]): number =>
  objects.reduce((sum, { size }) => Math.min(sum + size, Number.MAX_SAFE_INTEGER), 0);
