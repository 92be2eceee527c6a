import type { LockPath } from '../interface/lock-path.ts';
import type { WorkspaceId } from './access.ts';
import { asObject, firstName, type Json, type JsonObject } from './json.ts';
import { type KnownLock, readListedLock } from './known-lock.ts';
import { type List, readPages } from './pages.ts';
import { expectFound } from './refusal.ts';
import { type CallLimits, type ClientContext, expectSuccess } from './request.ts';
import { type ClientResponse, objectIn } from './response.ts';
import { plainName } from './sanitizer.ts';

export type ListLocks = ReturnType<typeof createLists>['listLocks'];

export interface NamedEntry {
  readonly name: string;
  readonly raw: JsonObject;
}

/** Reads entries that are plain names, or objects with a name under one of these keys. */
export const readNamed =
  (names: readonly string[]) =>
  (entry: Json): NamedEntry | undefined => {
    const name = typeof entry === 'string' ? entry : firstName(asObject(entry), names);
    if (name === undefined || name === '') return undefined;
    return { name: plainName(name), raw: asObject(entry) };
  };

const readWorkspace = readNamed(['id', 'workspace_id', 'workspaceId', 'name', 'slug']);
const readBranch = readNamed(['name', 'branch', 'ref', 'id']);

interface LockListRequest {
  readonly workspace: WorkspaceId;
  /** Only the lock on this path, only locks with this path prefix, or only those of this owner. */
  readonly filter?: LockFilter | undefined;
  readonly attempts?: 'once' | undefined;
}

export interface LockFilter {
  readonly path?: LockPath | undefined;
  readonly prefix?: string | undefined;
  readonly owner?: string | undefined;
}

const pageSize = 1_000;

/** Whether two paths name the same file where case does not matter. */
export const isSameFile = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

export const createLists = (context: ClientContext) => ({
  /** Throws a ServiceError, like all operations except those on single locks. */
  listWorkspaces: (within: CallLimits): Promise<List<NamedEntry>> =>
    readPages(context, { target: context.endpoints.workspaces, name: 'workspaces' }, readWorkspace, within),

  listBranches: ({ workspace }: { readonly workspace: WorkspaceId }, within: CallLimits): Promise<List<NamedEntry>> =>
    readPages(context, { target: context.endpoints.branches(workspace), name: 'branches' }, readBranch, within),

  async listLocks({ workspace, filter = {}, attempts }: LockListRequest, within: CallLimits): Promise<List<KnownLock>> {
    const { path, prefix, owner } = filter;
    const plainTarget = context.endpoints.locks(workspace);
    const query = new URLSearchParams({
      ...(path !== undefined && { path }),
      ...(prefix !== undefined && { prefix }),
      ...(owner !== undefined && { owner }),
      limit: String(pageSize),
    });
    const listing = { target: `${plainTarget}?${query}`, plainTarget, name: 'locks', attempts };
    const { items, incomplete } = await readPages(context, listing, readListedLock, within);
    const begin = prefix?.normalize('NFC') ?? '';
    const startsFolded = (text: string): boolean => text.toLowerCase().startsWith(begin.toLowerCase());
    // A service with Windows paths finds a prefix in any case, and only locks with it.
    const isFolded = items.every((lock) => startsFolded(lock.path));
    const startsWith = (text: string): boolean => (isFolded ? startsFolded(text) : text.startsWith(begin));
    // A service that does not support these parameters lists all locks.
    const isWanted = (lock: KnownLock): boolean =>
      // A service with Windows paths finds the lock in other case.
      (path === undefined || lock.path === path || (items.length === 1 && isSameFile(lock.path, path))) &&
      (prefix === undefined || startsWith(lock.path)) &&
      (owner === undefined || lock.owner === owner);
    return { items: items.filter(isWanted), incomplete };
  },

  /** The owner of the token's locks. */
  async getOwner(within: CallLimits): Promise<string> {
    const expect = expectFound(ownerIn, 'it does not name the owner of the token');
    const target = context.endpoints.token;
    const { response } = expectSuccess(await context.call({ method: 'GET', target, expect }, within));
    return ownerIn(response) ?? '';
  },
});

const ownerIn = (response: ClientResponse): string | undefined => firstName(objectIn(response), ['owner']);
