import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Remote } from '../../../../src/service/git/remote.ts';
import { createFetchObjects, type FetchObjectsParts } from '../../../../src/service/lfs/fetch/fetch-objects.ts';
import { createObjectStore } from '../../../../src/service/lfs/object-store.ts';
import { type Oid, parseOid } from '../../../../src/service/lfs/oid.ts';
import { createTargetCheck } from '../../../../src/service/outbound/target-address.ts';
import type { FetchedObjects } from '../../../../src/service/syncs/lfs-objects.ts';
import { endlessDisk } from '../../../support/endless-disk.ts';
import { branchNamed, enoughTime, gitSetUp, operatorEnvironment, remoteAt } from '../../../support/git-service.ts';
import { type LfsStore, pointerTo, type StoredName, startLfsStore } from '../../../support/lfs-store.ts';
import { valueIn } from '../../../support/value-in.ts';

export const quickly = { idleMs: 1_200, backoffMs: 1 };

export interface FetchOptions extends Partial<FetchObjectsParts> {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly mode?: string;
  readonly lfsUrl?: string | null;
  readonly remote?: Remote;
  readonly onProgress?: (progress: Pick<FetchedObjects, 'wanted' | 'received'>) => void;
}

export const oidOf = ({ oid }: StoredName): Oid => valueIn(parseOid(oid));

/** A remote whose files are pointers, a store with their objects, and the data folder of a service. */
export async function objectsSetUp() {
  const setUp = await gitSetUp();
  const { git, repository, data, folder } = setUp;
  const store: LfsStore = await startLfsStore({ public: true });
  onTestFinished(store.close);
  const branch = branchNamed('main');

  return {
    ...setUp,
    store,
    objects: createObjectStore(data, 'game'),
    /** Commits pointers to objects at these paths. */
    point(files: Readonly<Record<string, StoredName>>): void {
      const pointers = Object.entries(files).map(([path, object]) => [path, pointerTo(object)] as const);
      repository.commit({ branch: 'main', files: Object.fromEntries(pointers) });
    },
    async fetch(options: FetchOptions = {}): Promise<FetchedObjects> {
      const { signal = new AbortController().signal, timeoutMs = enoughTime.timeoutMs, mode = null } = options;
      const { remote = setUp.remote, lfsUrl = store.url, onProgress = () => undefined, ...parts } = options;
      const { head } = await git.fetch('game', remoteAt(repository.path), branch, enoughTime);
      const fetchObjects = createFetchObjects({
        git,
        dataFolder: data,
        targets: createTargetCheck({ allowedNetworks: [] }),
        freeDisk: endlessDisk,
        remainingBytes: async () => Number.POSITIVE_INFINITY,
        environment: operatorEnvironment(folder),
        ...quickly,
        ...parts,
      });
      const settings = { lfs_url: lfsUrl, lfs_mode: mode };
      return fetchObjects({ workspace: 'game', branch, head, remote, settings }, { timeoutMs, signal }, onProgress);
    },
    incomplete: join(data, 'lfs', 'game', 'incomplete'),
  };
}
