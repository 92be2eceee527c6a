import type { LockPath } from '../interface/lock-path.ts';
import type { WorkspaceId } from './access.ts';
import { inParallel } from './in-parallel.ts';
import { asObject, firstName, type Json, type JsonObject, nameIn } from './json.ts';
import { type FoundLock, type KnownLock, readListedLock } from './known-lock.ts';
import { type List, readPages } from './pages.ts';
import { expectFound } from './refusal.ts';
import { type CallLimits, type ClientContext, expectSuccess } from './request.ts';
import { type ClientResponse, objectIn } from './response.ts';
import { plainName } from './sanitizer.ts';
import { ServiceError } from './service-error.ts';
import type { Clock } from './time.ts';

export interface NamedEntry {
  readonly name: string;
  readonly raw: JsonObject;
}

/** Reads entries that are plain names, or objects with a name under one of these keys. */
const readNamed =
  (...keys: readonly string[]) =>
  (entry: Json): NamedEntry | undefined => {
    const raw = asObject(entry);
    const name = typeof entry === 'string' ? nameIn(entry) : firstName(raw, ...keys);
    return name === undefined ? undefined : { name: plainName(name), raw };
  };

const readWorkspace = readNamed('id', 'workspace_id', 'name');
const readBranch = readNamed('name', 'branch');

interface LockListRequest {
  readonly workspace: WorkspaceId;
  /** Only the lock on this path. */
  readonly path?: LockPath | undefined;
  readonly once?: boolean | undefined;
}

const pageSize = 1_000;

export const createLists = (context: ClientContext) => ({
  /** Throws a ServiceError, like all operations except those on a single lock. */
  listWorkspaces: (within: CallLimits): Promise<List<NamedEntry>> =>
    readPages(context, { target: context.endpoints.workspaces, name: 'workspaces' }, readWorkspace, within),

  listBranches: ({ workspace }: { readonly workspace: WorkspaceId }, within: CallLimits): Promise<List<NamedEntry>> =>
    readPages(context, { target: context.endpoints.branches(workspace), name: 'branches' }, readBranch, within),

  async listLocks({ workspace, path, once }: LockListRequest, within: CallLimits): Promise<List<KnownLock>> {
    const plainTarget = context.endpoints.locks(workspace);
    const query = new URLSearchParams({ ...(path !== undefined && { path }), limit: String(pageSize) });
    const listing = { target: `${plainTarget}?${query}`, plainTarget, name: 'locks', once };
    const { items, incomplete } = await readPages(context, listing, readListedLock, within);
    // A service that does not support the parameter lists all locks.
    return { items: items.filter((lock) => path === undefined || lock.path === path), incomplete };
  },

  async getOwner(within: CallLimits): Promise<string> {
    const expect = expectFound(ownerIn, 'it does not name the owner of the token');
    const target = context.endpoints.token;
    const { response } = expectSuccess(await context.call({ method: 'GET', target, expect }, within));
    return ownerIn(response) ?? '';
  },
});

const ownerIn = (response: ClientResponse): string | undefined => nameIn(objectIn(response)['owner']);

type Lists = Pick<ReturnType<typeof createLists>, 'listLocks'>;

/** For more than `maxSingle` paths, reads the list of all locks, which some services send for every query anyway. */
export async function listOnPaths(
  client: Lists,
  workspace: WorkspaceId,
  paths: readonly LockPath[],
  within: CallLimits,
  maxSingle = 8,
): Promise<List<KnownLock>> {
  const found = new Map<string, KnownLock>();
  let incomplete: string | undefined;
  const distinct = new Set<string>(paths);
  const requests =
    distinct.size > maxSingle ? [{ workspace }] : [...new Set(paths)].map((path) => ({ workspace, path }));
  await inParallel(requests, async (request) => {
    const { items, incomplete: reason } = await client.listLocks(request, within);
    incomplete ??= reason;
    for (const lock of items) if (distinct.has(lock.path)) found.set(lock.path, lock);
  });
  return { items: [...found.values()], incomplete };
}

export type LookupResult =
  | FoundLock
  /** The token may not list locks, or the list is incomplete. */
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'failed'; readonly error: ServiceError };

/** Returns a function with the result for each of the paths. */
export const lookUp = (client: Lists, workspace: WorkspaceId, paths: readonly LockPath[], within: CallLimits) =>
  lookupIn(listOnPaths(client, workspace, paths, within));

/** Up to this number, locks are looked up one by one, because a workspace may have any number of others. */
const maxLookedUpAlone = 100;

/** After this time, a lookup is too old to prove anything. */
const maxLookAgeMs = 5_000;

/**
 * Lookups for many locks that are released at the same time. If they were separate, all of them would come before the
 * first release. Locks that certainly need a lookup share one list of all locks, which counts only if it is complete,
 * and for a short time. Otherwise, the returned function looks up its own path.
 */
export function createLookUps(client: Lists, clock: Clock, within: CallLimits) {
  type Find = (path: LockPath) => LookupResult | undefined;
  const asked = new Map<WorkspaceId, { readonly paths: Set<LockPath>; readonly list: Promise<Find> }>();

  async function read(workspace: WorkspaceId, paths: ReadonlySet<LockPath>): Promise<Find> {
    await new Promise(setImmediate);
    asked.delete(workspace);
    if (paths.size <= maxLookedUpAlone) return () => undefined;
    const until = clock() + maxLookAgeMs;
    const limits = { ...within, deadline: Math.min(within.deadline, until) };
    const find = await lookupIn(client.listLocks({ workspace }, limits));
    return (path) => {
      const found = find(path);
      const isClear = found.kind === 'locked' || found.kind === 'absent';
      return isClear && clock() <= until ? found : undefined;
    };
  }

  return async (workspace: WorkspaceId, path: LockPath, isCertain: boolean): Promise<() => Promise<LookupResult>> => {
    const alone = async () => (await lookUp(client, workspace, [path], within))(path);
    if (!isCertain) return alone;
    const paths = asked.get(workspace)?.paths ?? new Set<LockPath>();
    const list = asked.get(workspace)?.list ?? read(workspace, paths);
    asked.set(workspace, { paths: paths.add(path), list });
    const find = await list;
    return async () => find(path) ?? alone();
  };
}

export async function lookUpOnce(
  context: ClientContext,
  { workspace, path }: { readonly workspace: WorkspaceId; readonly path: LockPath },
  within: CallLimits,
): Promise<LookupResult> {
  return (await lookupIn(createLists(context).listLocks({ workspace, path, once: true }, within)))(path);
}

/** Finds paths in a list. A ServiceError becomes the result for each path. */
export async function lookupIn(list: Promise<List<KnownLock>>): Promise<(path: LockPath) => LookupResult> {
  try {
    const { items, incomplete } = await list;
    const locks = new Map(items.map((lock) => [lock.path, lock]));
    return (path) => {
      const lock = locks.get(path);
      if (lock !== undefined) return { kind: 'locked', lock };
      return incomplete === undefined ? { kind: 'absent' } : { kind: 'unknown', reason: incomplete };
    };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const result: LookupResult = refusesLists(error)
      ? { kind: 'unknown', reason: error.message }
      : { kind: 'failed', error };
    return () => result;
  }
}

/**
 * A service may allow a token to acquire and release locks, but not to list them. A gateway's refusal does not show
 * that.
 */
const refusesLists = ({ failure: { kind, status, isTransient } }: ServiceError): boolean =>
  kind === 'refused' && (status === 501 || (!isTransient && (status === 403 || status === 405)));

/** Whether the lists of a service are in an unknown format, so that none of them can be read. */
export const isUnreadable = ({ failure }: ServiceError): boolean => failure.kind === 'unusable' && !failure.isTransient;
