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
  /** Only the lock on this path, only locks with this path prefix, or only those of this owner. */
  readonly filter?: LockFilter | undefined;
  readonly once?: boolean | undefined;
}

export interface LockFilter {
  readonly path?: LockPath | undefined;
  readonly prefix?: string | undefined;
  readonly owner?: string | undefined;
}

const pageSize = 1_000;

export const createLists = (context: ClientContext) => ({
  /** Throws a ServiceError, like all operations except those on single locks. */
  listWorkspaces: (within: CallLimits): Promise<List<NamedEntry>> =>
    readPages(context, { target: context.endpoints.workspaces, name: 'workspaces' }, readWorkspace, within),

  listBranches: ({ workspace }: { readonly workspace: WorkspaceId }, within: CallLimits): Promise<List<NamedEntry>> =>
    readPages(context, { target: context.endpoints.branches(workspace), name: 'branches' }, readBranch, within),

  async listLocks({ workspace, filter = {}, once }: LockListRequest, within: CallLimits): Promise<List<KnownLock>> {
    const { path, prefix, owner } = filter;
    const plainTarget = context.endpoints.locks(workspace);
    const given = Object.entries(filter).filter(([, value]) => value !== undefined);
    const query = new URLSearchParams([...given, ['limit', String(pageSize)]]);
    const listing = { target: `${plainTarget}?${query}`, plainTarget, name: 'locks', once };
    const { items, incomplete } = await readPages(context, listing, readListedLock, within);
    const begin = prefix?.normalize('NFC') ?? '';
    // A service that does not support these parameters lists all locks.
    const isWanted = (lock: KnownLock): boolean =>
      (path === undefined || lock.path === path) &&
      lock.path.startsWith(begin) &&
      (owner === undefined || lock.owner === owner);
    return { items: items.filter(isWanted), incomplete };
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

/**
 * Looks up more than `maxSingle` paths in the list of all locks, which some services send for every query. If it is not
 * complete, that of a single path may be.
 */
export async function listOnPaths(
  client: Lists,
  workspace: WorkspaceId,
  paths: readonly LockPath[],
  within: CallLimits,
  maxSingle = 8,
): Promise<List<KnownLock>> {
  const distinct = new Set<string>(paths);
  if (distinct.size > maxSingle) {
    const { items, incomplete } = await client.listLocks({ workspace }, within);
    if (incomplete === undefined) return { items: items.filter(({ path }) => distinct.has(path)), incomplete };
  }
  const found = new Map<string, KnownLock>();
  let incomplete: string | undefined;
  await inParallel([...new Set(paths)], async (path) => {
    const { items, incomplete: reason } = await client.listLocks({ workspace, filter: { path } }, within);
    incomplete ??= reason;
    for (const lock of items) if (lock.path === path) found.set(path, lock);
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

/** A workspace may have so many locks that their list takes longer than this number of requests. */
const maxSharedSingle = 100;

/** Requests one list at a time, each for all paths that were asked for while the list before was under way. */
export function createSharedLookUp(client: Lists, within: CallLimits) {
  const next = new Map<WorkspaceId, { readonly paths: Set<LockPath>; readonly find: ReturnType<typeof lookupIn> }>();
  let last: Promise<unknown> = Promise.resolve();

  function open(workspace: WorkspaceId) {
    const paths = new Set<LockPath>();
    const find = last.then(() => {
      next.delete(workspace);
      return lookupIn(listOnPaths(client, workspace, [...paths], within, maxSharedSingle));
    });
    last = find.catch(() => undefined);
    next.set(workspace, { paths, find });
    return { paths, find };
  }

  return async (workspace: WorkspaceId, path: LockPath): Promise<LookupResult> => {
    const { paths, find } = next.get(workspace) ?? open(workspace);
    paths.add(path);
    return (await find)(path);
  };
}

export async function lookUpOnce(
  context: ClientContext,
  { workspace, path }: { readonly workspace: WorkspaceId; readonly path: LockPath },
  within: CallLimits,
): Promise<LookupResult> {
  return (await lookupIn(createLists(context).listLocks({ workspace, filter: { path }, once: true }, within)))(path);
}

/** Looks paths up in a list. A ServiceError becomes the result for every path. */
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
 * A service may allow a token to acquire and release locks, but not to list them. The refusal of a gateway does not
 * show that.
 */
export const refusesLists = ({ failure }: ServiceError): boolean =>
  failure.kind === 'refused' && failure.isRecognized && [403, 405, 501].includes(failure.status);

/** Whether the lists of a service have an unknown form: none of them can be read. */
export const isUnreadable = ({ failure }: ServiceError): boolean =>
  failure.kind === 'unusable' && failure.isRecognized === true;
