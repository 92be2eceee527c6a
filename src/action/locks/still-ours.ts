import type { Client, KnownLock, Within, WorkspaceId } from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { GrantedLock } from '../ledger/entry.ts';

export type Ownership =
  | { readonly kind: 'ours' }
  | { readonly kind: 'gone' }
  /** Another lock is on the path now. */
  | { readonly kind: 'lost'; readonly holder: KnownLock }
  /** Nothing tells our lock from another. */
  | { readonly kind: 'unknown' };

/** Two locks differ when something that both of them tell is different. */
function differ(lock: GrantedLock, listed: KnownLock): boolean | undefined {
  const pairs = [
    [lock.id, listed.id],
    [lock.acquired_at, listed.acquired_at],
    [lock.owner, listed.owner],
  ];
  const comparable = pairs.filter(([one, other]) => one !== undefined && other !== undefined);
  if (comparable.some(([one, other]) => one !== other)) return true;
  // The same owner may have taken the path twice; the time tells.
  return comparable.some(([one]) => one === lock.acquired_at && lock.acquired_at !== undefined) ? false : undefined;
}

/** For a service that gives a lock neither ETag nor id: what its list says of the path. */
export async function ownershipByList(
  client: Client,
  workspace: WorkspaceId,
  lock: GrantedLock,
  within: Within,
): Promise<Ownership> {
  // A path in the ledger is one that was asked for, and so one of the canonical ones.
  const { items } = await client.listLocks({ workspace, filter: { path: lock.path as LockPath } }, within);
  const [listed] = items;
  if (listed === undefined) return { kind: 'gone' };
  switch (differ(lock, listed)) {
    case true:
      return { kind: 'lost', holder: listed };
    case false:
      return { kind: 'ours' };
    case undefined:
      return Date.parse(lock.expires_at) <= client.serverNow() ? { kind: 'unknown' } : { kind: 'ours' };
  }
}
