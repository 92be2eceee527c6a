import { maxNamedMissing } from '../../interface/resources.ts';
import type { MissingObject } from '../contract/schemas.ts';
import { withFreeDisk } from '../git/git-command.ts';
import { asGitErrors, GitError } from '../git/git-error.ts';
import { createRemoteRedactor } from '../git/remote.ts';
import type { Limits } from '../git/run-git.ts';
import type { Instance } from '../instance/instance.ts';
import { type FetchedObjects, type FetchObjects, noObjects, type WantedObjects } from '../syncs/wanted-objects.ts';
import { lfsEndpoint, lfsMode } from '../workspaces/settings.ts';
import { createObjectStore, type ObjectStore } from './object-store.ts';
import { type ObjectName, type ReferencedObject, referencedObjects } from './pointer.ts';

export interface FetchObjectsParts extends Pick<Instance, 'dataFolder'> {
  readonly git: Pick<Instance['git'], 'smallBlobs' | 'fetchLfsObjects'>;
  readonly freeDisk: Pick<Instance['freeDisk'], 'isLow' | 'reserve'>;
}

export const createFetchObjects =
  (parts: FetchObjectsParts): FetchObjects =>
  (sync, limits, onProgress) =>
    lfsMode.of(sync.settings.lfs_mode) === 'none'
      ? Promise.resolve(noObjects)
      : asGitErrors('store LFS objects in the data folder', () => fetchMissing(parts, sync, limits, onProgress));

/** For any amount of objects, but not for a store that sends some bytes a minute. The next sync fetches the rest. */
const timeoutMs = 48 * 60 * 60_000;

async function fetchMissing(
  parts: FetchObjectsParts,
  sync: WantedObjects,
  limits: Parameters<FetchObjects>[1],
  onProgress: Parameters<FetchObjects>[2],
): Promise<FetchedObjects> {
  const store = createObjectStore(parts.dataFolder, { ...sync.settings, id: sync.workspace });
  const needed = await referencedObjects(parts.git, sync.workspace, sync.head, limits);
  const missing = await missingObjects(needed, store.use);
  const wanted = { objects: missing.length, bytes: sumOfSizes(missing) };
  onProgress({ wanted, received: noObjects.received });
  if (missing.length === 0) return noObjects;
  const run = await withFreeDisk(parts.freeDisk, { timeoutMs, signal: limits.signal }, (limits) =>
    runGitLfs(parts, store, sync, missing, limits, (received) => onProgress({ wanted, received })),
  );
  const still = await missingObjects(missing, store.findIntact);
  const received = { objects: missing.length - still.length, bytes: wanted.bytes - sumOfSizes(still) };
  const isInstalled = run.failure?.kind !== 'not-installed';
  // A store that reported on single objects is usable: it only lacks some.
  if (run.failure !== undefined && isInstalled && received.objects === 0 && run.reasons.size === 0) throw run.failure;
  // git-lfs may end without reporting its last objects.
  onProgress({ wanted, received });
  return { wanted, received, missing: nameMissing(still, run) };
}

interface GitLfsRun {
  /** By object id: the reason that git-lfs gave for an object that it could not fetch. */
  readonly reasons: ReadonlyMap<string, string>;
  readonly failure: GitError | undefined;
}

/** Throws if the store cannot be used at all. */
async function runGitLfs(
  { git }: Pick<FetchObjectsParts, 'git'>,
  store: ObjectStore,
  { workspace, remote, settings }: WantedObjects,
  objects: readonly ReferencedObject[],
  limits: Limits,
  onProgress: (received: FetchedObjects['received']) => void,
): Promise<GitLfsRun> {
  const url =
    lfsEndpoint({ id: workspace, remote: remote.address, lfs_url: settings.lfs_url }) ??
    (remote.kind === 'ssh' ? remote.address : undefined);
  if (url === undefined) {
    throw new GitError(
      'failed',
      `The branch has LFS objects, but their URL is unknown, because the remote uses neither https nor ssh. Set it: workspace-service workspace update ${workspace} --lfs-url https://… Or exclude them from syncs: workspace-service workspace update ${workspace} --lfs none`,
    );
  }
  const redact = createRemoteRedactor(remote);
  const isWanted = new Set<string>(objects.map(({ oid }) => oid));
  const reasons = new Map<string, string>();
  let isStoreUnusable = false;
  try {
    await git.fetchLfsObjects({
      objectsFolder: await store.folder(),
      objects,
      url,
      remote,
      limits,
      onProgress,
      onErrorLine(line) {
        isStoreUnusable ||= line.startsWith('batch response: ');
        const [oid = ''] = line.match(/\b[0-9a-f]{64}\b/) ?? [];
        if (isWanted.has(oid) && !reasons.has(oid)) reasons.set(oid, reasonIn(redact(line), oid));
      },
    });
    return { reasons, failure: undefined };
  } catch (error) {
    limits.signal?.throwIfAborted();
    if (!(error instanceof GitError) || isStoreUnusable) throw error;
    if (error.kind !== 'failed' && error.kind !== 'not-installed') throw error;
    return { reasons, failure: error };
  }
}

const maxReasonLength = 300;
const maxPathLength = 500;
const reasonIn = (line: string, oid: string): string =>
  line
    .replace(`[${oid}] `, '')
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, maxReasonLength)
    .toWellFormed();

function nameMissing(objects: readonly ReferencedObject[], { reasons, failure }: GitLfsRun): FetchedObjects['missing'] {
  const named = objects.slice(0, maxNamedMissing).map(
    (object): MissingObject => ({
      path: object.path.slice(0, maxPathLength).toWellFormed(),
      oid: object.oid,
      size: object.size,
      detail: reasons.get(object.oid) ?? failure?.message ?? 'git-lfs did not store it.',
    }),
  );
  return { count: objects.length, named };
}

const parallelFiles = 64;

async function missingObjects(
  objects: readonly ReferencedObject[],
  find: ObjectStore['findIntact'],
): Promise<ReferencedObject[]> {
  const missing: ReferencedObject[] = [];
  for (let at = 0; at < objects.length; at += parallelFiles) {
    const some = objects.slice(at, at + parallelFiles);
    const found = await Promise.all(some.map(find));
    missing.push(...some.filter((_, index) => found[index] === undefined));
  }
  return missing;
}

/** Capped, because the sizes in pointers may add up to more than a safe integer. */
const sumOfSizes = (objects: readonly ObjectName[]): number =>
  objects.reduce((sum, { size }) => Math.min(sum + size, Number.MAX_SAFE_INTEGER), 0);
