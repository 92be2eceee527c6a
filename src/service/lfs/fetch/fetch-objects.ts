import type { Git } from '../../git/git.ts';
import { type FetchObjects, noObjects } from '../../syncs/lfs-objects.ts';
import { lfsMode } from '../../workspaces/lfs-settings.ts';
import { createObjectStore, type ObjectStore } from '../object-store.ts';
import type { ObjectName } from '../oid.ts';
import { type PointedObject, pointedObjects } from '../pointer.ts';
import { onDisk } from './download.ts';
import { type DownloadAllParts, downloadAll } from './download-all.ts';
import { openOffers } from './offers.ts';
import type { StoreParts } from './store.ts';

export interface FetchObjectsParts extends StoreParts, Pick<DownloadAllParts, 'dataFolder' | 'freeDisk'> {
  readonly git: Pick<Git, 'smallBlobs' | 'lfsAuthenticate'>;
  /** Number of bytes that fit within the limit of the workspace. */
  readonly roomIn: (workspace: string) => Promise<number>;
  /** Time without data after which a store counts as not responding. */
  readonly idleMs?: number;
  readonly backoffMs?: number;
}

const maxRemembered = 10_000;
const sshTimeout = { timeoutMs: 30_000 };

/** Fetches the missing LFS objects of a branch, and resumes the downloads of a killed process. */
export function createFetchObjects(parts: FetchObjectsParts): FetchObjects {
  const { git, dataFolder, roomIn, idleMs = 60_000, backoffMs = 500 } = parts;
  /** Scans without pointers, not repeated: most syncs find nothing new, and many repositories have no LFS objects. */
  const withoutPointers = new Set<string>();
  return async (sync, limits, onProgress) => {
    const { workspace, branch, head, settings } = sync;
    const { signal, timeoutMs } = limits;
    const mode = lfsMode(settings);
    if (mode === 'none') return noObjects;
    const objects = createObjectStore(dataFolder, workspace);

    async function pointedIn(of: 'head' | 'history'): Promise<readonly PointedObject[]> {
      const scan = `${of} ${head}`;
      if (withoutPointers.has(scan)) return [];
      const pointed = await pointedObjects(git, workspace, { commit: head, of }, limits);
      if (pointed.length === 0 && withoutPointers.size < maxRemembered) withoutPointers.add(scan);
      return pointed;
    }

    const needed = await pointedIn('head');
    const lacking = await onDisk(lackingObjects(needed, objects.use));
    if (mode === 'history') {
      const known = new Set(needed.map(keyOf));
      const earlier = (await pointedIn('history')).filter((object) => !known.has(keyOf(object)));
      let freeBytes = (await roomIn(workspace)) - sumOfSizes(lacking);
      // Not recorded as used, so that they can be removed to make room.
      for (const object of await onDisk(lackingObjects(earlier, objects.findIntact))) {
        if (object.size > freeBytes) continue;
        freeBytes -= object.size;
        lacking.push(object);
      }
    }
    const wanted = { objects: lacking.length, bytes: sumOfSizes(lacking) };
    onProgress({ wanted, received: noObjects.received });
    if (lacking.length === 0) return noObjects;

    const offers = await openOffers(parts, sync, { ...sshTimeout, signal, branch, idleMs, backoffMs });
    const terms = { workspace, idleMs, backoffMs, maxSilenceMs: timeoutMs, signal };
    try {
      const fetched = await downloadAll({ ...parts, ...terms, offers }, lacking, (received) =>
        onProgress({ wanted, received }),
      );
      return { wanted, ...fetched };
    } finally {
      offers.close();
    }
  };
}

const lookedForAtOnce = 64;

/** Objects of the pointers that are missing from the mirror. */
async function lackingObjects(
  pointed: readonly PointedObject[],
  find: ObjectStore['findIntact'],
): Promise<PointedObject[]> {
  const lacking: PointedObject[] = [];
  for (let at = 0; at < pointed.length; at += lookedForAtOnce) {
    const some = pointed.slice(at, at + lookedForAtOnce);
    const found = await Promise.all(some.map(find));
    lacking.push(...some.filter((_, index) => found[index] === undefined));
  }
  return lacking;
}

const keyOf = ({ oid, size }: ObjectName): string => `${oid} ${size}`;

/** Capped, because the sizes that pointers claim may add up to more than a safe integer. */
const sumOfSizes = (objects: readonly ObjectName[]): number =>
  objects.reduce((sum, { size }) => Math.min(sum + size, Number.MAX_SAFE_INTEGER), 0);
