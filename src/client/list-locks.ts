import type { LockPath } from '../interface/lock-path.ts';
import type { Addresses } from './addresses.ts';
import type { Within } from './call.ts';
import { type KnownLock, readListedLock } from './known-lock.ts';
import { type List, type Pages, readPages } from './pages.ts';
import type { WorkspaceId } from './workspace-id.ts';

export interface LockFilter {
  /** Only the lock on this path. */
  readonly path?: LockPath | undefined;
  /** Only locks whose path starts so. */
  readonly prefix?: string | undefined;
}

export interface LockListRequest {
  readonly workspace: WorkspaceId;
  readonly filter?: LockFilter | undefined;
}

const pageSize = 1_000;

export const createListLocks =
  (pages: Pages, addresses: Addresses) =>
  async ({ workspace, filter = {} }: LockListRequest, within: Within): Promise<List<KnownLock>> => {
    const { path, prefix } = filter;
    const plainTarget = addresses.locks(workspace);
    const query = new URLSearchParams({
      ...(path !== undefined && { path }),
      ...(prefix !== undefined && { prefix }),
      limit: String(pageSize),
    });
    const listing = { target: `${plainTarget}?${query}`, plainTarget, name: 'locks' };
    const { items, incomplete } = await readPages(pages, listing, readListedLock, within);
    // A service that knows no such parameters has listed all of them.
    const wanted = (lock: KnownLock): boolean =>
      (path === undefined || lock.path === path) &&
      (prefix === undefined || lock.path.startsWith(prefix.normalize('NFC')));
    return { items: items.filter(wanted), incomplete };
  };
