import { setTimeout as sleep } from 'node:timers/promises';
import type { ComparisonGap } from '../../interface/resources.ts';
import { withinMs } from '../../interface/timers.ts';
import type { BranchName } from '../git/branch-name.ts';
import type { Git } from '../git/git.ts';
import { remember } from '../runtime/remember.ts';
import type { Storage } from '../storage/storage.ts';
import { enqueue, findSync } from '../syncs/queue.ts';
import { branchStatuses } from '../workspaces/branch-state.ts';
import { comparedWith, patternsOf } from '../workspaces/latest.ts';
import { type KnownRemote, type RemoteListing, type RemoteMemory, remoteKey } from '../workspaces/remote-memory.ts';
import { type SyncedBranch, type SyncedBranches, syncedBranches } from '../workspaces/synced-branches.ts';
import type { FoundWorkspace } from '../workspaces/workspaces.ts';

export interface RefreshParts {
  readonly storage: Storage;
  readonly git: Pick<Git, 'missingCommits'>;
  readonly remoteMemory: Pick<RemoteMemory, 'known' | 'ask'>;
}

/** The heads in the mirror of the branches that locks are compared with, and of the branch of a request. */
export type ComparedHeads = Awaited<ReturnType<ReturnType<typeof createRefreshMirror>>>;

/** Leaves time for the comparison. */
const timeoutMs = 4_000;
const pollMs = 200;
const maxRemembered = 1_000;

/** A remote that did not answer is not waited for again within the same minute. */
const maxAgeOfSilenceMs = 60_000;

/** The branch may just have been pushed. */
const maxAgeWithoutBranchMs = 2_000;

export interface RefreshRequest {
  readonly workspace: FoundWorkspace;
  readonly branch: string | undefined;
  /** Whether to sync the branch of the request like a compared one. */
  readonly syncsBranch: boolean;
}

interface Refresh {
  readonly isCurrent: boolean;
  /** Heads that the mirror has, although their syncs may still fetch LFS objects, or have failed to. */
  readonly fetched: ReadonlyMap<string, SyncedBranch>;
}

const notRefreshed: Refresh = { isCurrent: false, fetched: new Map() };

type ListedBranch = readonly [name: BranchName, head: string];

/** A comparison of the mirror with a listing of the remote, which adds to `fetched`. */
interface Comparison {
  readonly id: string;
  readonly askedAt: number;
  readonly synced: SyncedBranches;
  readonly fetched: Map<string, SyncedBranch>;
}

/** Brings the mirror up to date if that was tried longer ago than `maxAgeMs`, for at most a few seconds. */
export function createRefreshMirror({ storage, git, remoteMemory }: RefreshParts) {
  const refreshes = new WeakMap<RemoteListing, Map<string, Promise<Refresh>>>();
  /** The branches that were compared before. */
  const compared = new Map<string, true>();

  /** The last answer of the remote, and whether it is recent enough. */
  async function listingFor({ workspace, branch }: RefreshRequest, maxAgeMs: number) {
    const known = remoteMemory.known(workspace);
    const isFirst = !compared.has(remoteKey(workspace, branch));
    const isRecent = performance.now() - known.startedAt < maxAgeOf(known, branch, isFirst ? 0 : maxAgeMs);
    const asked = isRecent ? known : await withinMs(remoteMemory.ask(workspace), timeoutMs, undefined);
    const { listing, startedAt } = asked ?? known;
    const hasAnswered = asked !== undefined && asked.failure === undefined;
    if (hasAnswered) remember(compared, remoteKey(workspace, branch), true, maxRemembered);
    return { listing, startedAt, hasAnswered };
  }

  async function refresh(request: RefreshRequest, listing: RemoteListing, deadline: number): Promise<Refresh> {
    const { id } = request.workspace;
    const fetched = new Map<string, SyncedBranch>();
    const synced = await syncedBranches(storage, id);
    const comparison = { id, askedAt: listing.askedAt, synced, fetched };
    const behind = await branchesBehind(comparison, wantedBranches(request, listing, synced));
    const isCurrent = behind.length === 0 || (await waitForSyncs(comparison, await queueSyncs(id, behind), deadline));
    return { isCurrent, fetched };
  }

  /** Compares each listing with the mirror once. */
  function refreshOnce(request: RefreshRequest, listing: RemoteListing, deadline: number): Promise<Refresh> {
    const { workspace, branch, syncsBranch } = request;
    const key = JSON.stringify([workspace.latest_branches, branch, syncsBranch]);
    const ofListing = refreshes.get(listing) ?? new Map<string, Promise<Refresh>>();
    refreshes.set(listing, ofListing);
    const known = ofListing.get(key);
    if (known !== undefined) return known;
    const refreshed = refresh(request, listing, deadline);
    ofListing.set(key, refreshed);
    refreshed.catch(() => ofListing.delete(key));
    return refreshed;
  }

  /** The branches whose head the mirror lacks: also those that it has lost, or that another instance has fetched. */
  async function branchesBehind({ id, askedAt, synced, fetched }: Comparison, branches: readonly ListedBranch[]) {
    const missing = await git.missingCommits(
      id,
      branches.map(([, listed]) => listed),
    );
    return branches.filter(([name, listed]) => {
      if (missing.has(listed)) return true;
      if (synced.get(name)?.head !== listed) fetched.set(name, { head: listed, syncedAt: askedAt });
      return false;
    });
  }

  const queueSyncs = (id: string, branches: readonly ListedBranch[]) =>
    storage.commit({ workspace: id }, async (db) => {
      const queued = new Map<ListedBranch, string>();
      for (const branch of branches) {
        const sync = { workspace: id, branch: branch[0], estimatedObjects: 0, requestedBy: 'a lock request' };
        queued.set(branch, (await enqueue(db, storage.now, sync)).sync_id);
      }
      return queued;
    });

  /** False if a sync fails, or does not fetch the head of its branch in time. */
  async function waitForSyncs(comparison: Comparison, syncs: ReadonlyMap<ListedBranch, string>, deadline: number) {
    const { id } = comparison;
    for (const [branch, syncId] of syncs) {
      for (;;) {
        const { status } = (await findSync(storage.read, id, syncId)) ?? { status: 'failed' };
        const [behind] = await branchesBehind(comparison, [branch]);
        if (behind === undefined || (status === 'succeeded' && (await isHere(id, branch[0])))) break;
        if (status === 'succeeded' || status === 'failed' || performance.now() >= deadline) return false;
        await sleep(pollMs);
      }
    }
    return true;
  }

  /** Another instance with a mirror of its own may have run the sync. */
  const isHere = async (id: string, name: BranchName): Promise<boolean> => {
    const head = (await syncedBranches(storage, id)).get(name)?.head;
    return head !== undefined && (await git.missingCommits(id, [head])).size === 0;
  };

  return async (request: RefreshRequest, maxAgeMs: number) => {
    const { workspace } = request;
    const deadline = performance.now() + timeoutMs;
    const { listing, startedAt, hasAnswered } = await listingFor(request, maxAgeMs);
    const refreshed =
      hasAnswered && listing !== undefined ? await refreshOnce(request, listing, deadline) : notRefreshed;
    const heads = new Map(await syncedBranches(storage, workspace.id));
    for (const [name, head] of refreshed.fetched) {
      if ((heads.get(name)?.syncedAt ?? 0) < head.syncedAt) heads.set(name, head);
    }
    return { ...comparedHeads(request, refreshed, listing, heads), refreshedAt: startedAt };
  };
}

function comparedHeads(
  { workspace, branch }: RefreshRequest,
  { isCurrent }: Refresh,
  listing: RemoteListing | undefined,
  heads: SyncedBranches,
) {
  const isCompared = comparedWith(workspace, listing?.defaultBranch);
  const isRelevant = (name: string): boolean => name === branch || isCompared(name);
  const listed: ReadonlyMap<string, string> | undefined = listing?.branches;
  // A branch that the remote no longer has does not count, unless a sync has found it since then.
  const considered = [...heads].filter(
    ([name, { syncedAt }]) =>
      isRelevant(name) && (listing === undefined || listed?.has(name) || syncedAt >= listing.askedAt),
  );
  const gap = gapOf();
  return {
    compared: new Map(considered.flatMap(([name, { head }]) => (isCompared(name) ? [[name, head]] : []))),
    own: branch === undefined ? undefined : heads.get(branch)?.head,
    gap,
    /** Milliseconds, by the clock of the database; set if the mirror could not be brought up to date in time. */
    asOf: isCurrent ? undefined : Math.min(...considered.map(([, { syncedAt }]) => syncedAt)),
  };

  /** Why not all branches can be compared. */
  function gapOf(): ComparisonGap | undefined {
    const isDefault = patternsOf(workspace) === null;
    if (listing === undefined) {
      const isKnown = !isDefault && considered.some(([name]) => isCompared(name));
      if (isKnown && (branch === undefined || heads.has(branch))) return undefined;
      return {
        reason: 'The remote of the workspace does not answer, and the mirror lacks its branches.',
        isLasting: false,
      };
    }
    if (isDefault && listing.defaultBranch === undefined) {
      const advice = 'name the branches to compare with: workspace update --latest-branches';
      return { reason: `The HEAD of the remote names no branch. Correct it, or ${advice}.`, isLasting: true };
    }
    const names = [...listing.branches.keys()];
    if (!names.some(isCompared)) {
      return { reason: 'The remote has no branch to compare with: correct --latest-branches.', isLasting: true };
    }
    const lacking = names.find((name) => isRelevant(name) && !heads.has(name));
    if (lacking === undefined) return undefined;
    return { reason: `The mirror does not have the branch ${lacking} yet. Ask again in a moment.`, isLasting: false };
  }
}

function wantedBranches(request: RefreshRequest, listing: RemoteListing, synced: SyncedBranches) {
  const isCompared = comparedWith(request.workspace, listing.defaultBranch);
  const wants = (name: string): boolean => isCompared(name) || (request.syncsBranch && name === request.branch);
  const statuses = branchStatuses({ listing }, synced);
  const unknown = new Set(statuses.flatMap(({ name, state }) => (state === 'unknown' ? [name] : [])));
  return [...listing.branches].filter(([name]) => wants(name) && !unknown.has(name));
}

function maxAgeOf({ listing, failure }: KnownRemote, branch: string | undefined, maxAgeMs: number): number {
  if (failure !== undefined) return maxAgeOfSilenceMs;
  const listed: ReadonlyMap<string, string> | undefined = listing?.branches;
  return branch === undefined || listed?.has(branch) ? maxAgeMs : Math.min(maxAgeMs, maxAgeWithoutBranchMs);
}
