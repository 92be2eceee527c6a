import type { KnownRemote } from '../../workspaces/remote-memory.ts';
import { branchStandings, countStandings } from '../../workspaces/standing.ts';
import type { SyncedBranches } from '../../workspaces/synced-branches.ts';
import { plural } from '../assets/text.js';

/** The state of a workspace's branches in a few words. */
export interface BranchSummary {
  /** Also the class for its colour. */
  readonly state: 'behind' | 'current' | 'unsynced' | 'unknown' | 'silent';
  readonly text: string;
  /** May be empty. */
  readonly more: string;
}

/** Counts synced branches only: one that was never synced is not behind. */
function synced(known: KnownRemote, branches: SyncedBranches): BranchSummary {
  const { behind, current, unsynced, unknown } = countStandings(branchStandings(known, branches));
  if (unknown > 0) return { state: 'unknown', text: 'asking', more: '' };
  const more = unsynced === 0 ? '' : `${unsynced.toLocaleString('en-US')} never synced`;
  if (behind > 0) return { state: 'behind', text: `${behind} of ${behind + current} behind`, more };
  if (current > 0) {
    return { state: 'current', text: current === 1 ? '1 up to date' : `all ${current} up to date`, more };
  }
  return unsynced === 0
    ? { state: 'unsynced', text: 'no branches', more: '' }
    : { state: 'unsynced', text: 'never synced', more: plural(unsynced, 'branch', 'branches') };
}

export function branchSummary(known: KnownRemote, branches: SyncedBranches): BranchSummary {
  const { listing, failure } = known;
  if (listing !== undefined && failure === undefined) return synced(known, branches);
  if (failure === undefined) return { state: 'unknown', text: 'asking', more: '' };
  const more = branches.size === 0 ? '' : `${plural(branches.size, 'branch', 'branches')} synced`;
  return { state: 'silent', text: 'no answer', more };
}
