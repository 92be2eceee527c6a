import type { KnownRemote } from './remote-memory.ts';
import type { SyncedBranch, SyncedBranches } from './synced-branches.ts';

/** State of a branch in the mirror relative to the remote. Unknown until the remote answers. */
type BranchState = 'behind' | 'current' | 'unsynced' | 'unknown';

interface BranchStatus {
  readonly name: string;
  readonly state: BranchState;
  readonly head: string | undefined;
  readonly synced: SyncedBranch | undefined;
  readonly isDefault: boolean;
}

/**
 * The status of every branch of the remote, the default branch first. Without a listing, of every synced branch. A sync
 * that ended after the request for the listing may have fetched a newer or an older commit, depending on its start, so
 * the status is unknown until the next listing.
 */
export function branchStatuses(
  { listing }: Pick<KnownRemote, 'listing'>,
  all: SyncedBranches,
): readonly BranchStatus[] {
  const branches: ReadonlyMap<string, string> | undefined = listing?.branches;
  return [...(branches ?? all).keys()]
    .map((name): BranchStatus => {
      const synced = all.get(name);
      const listed = branches?.get(name);
      const isClear = synced === undefined || synced.head === listed || synced.syncedAt < (listing?.askedAt ?? 0);
      const head = isClear ? listed : undefined;
      return {
        name,
        state: branchStateOf(head, synced?.head),
        head,
        synced,
        isDefault: name === listing?.defaultBranch,
      };
    })
    .sort((one, other) => Number(other.isDefault) - Number(one.isDefault));
}

function branchStateOf(head: string | undefined, synced: string | undefined): BranchState {
  if (head === undefined) return 'unknown';
  if (synced === undefined) return 'unsynced';
  return head === synced ? 'current' : 'behind';
}
