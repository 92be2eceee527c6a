import type { BranchName } from '../../interface/branch-name.ts';
import type { ComparisonGap } from '../../interface/resources.ts';
import { withinMs } from '../../interface/timers.ts';
import type { Git } from '../git/git.ts';
import type { PullThrough } from '../mirror/pull-through.ts';
import { remember } from '../runtime/remember.ts';
import type { Storage } from '../storage/storage.ts';
import { type KnownRemote, type RemoteListing, type Remotes, remoteKey } from '../workspaces/remotes.ts';
import { comparedWith, patternsOf } from '../workspaces/settings.ts';
import { type SyncedBranch, syncedBranches } from '../workspaces/synced-branches.ts';
import type { FoundWorkspace } from '../workspaces/workspaces.ts';

export interface RefreshParts {
  readonly storage: Pick<Storage, 'read'>;
  readonly git: Pick<Git, 'missingCommits'>;
  readonly pullThrough: Pick<PullThrough, 'commits'>;
  readonly remotes: Pick<Remotes, 'known' | 'ask'>;
}

/** The heads of the compared branches and of the branch of the request. This instance has all of their commits. */
export type ComparedHeads = Awaited<ReturnType<ReturnType<typeof createRefreshMirror>>>;

/** Leaves time for the comparison. */
const timeoutMs = 4_000;
const maxRemembered = 1_000;

/** After a remote did not respond, nobody waits for it again within this time. */
const maxAgeOfSilenceMs = 60_000;

/** Short, because the branch may have been pushed just now. */
const maxAgeWithoutBranchMs = 2_000;

export interface RefreshRequest {
  readonly workspace: FoundWorkspace;
  readonly branch: BranchName | undefined;
}

/** Brings the mirror up to date, for at most a few seconds, unless that was tried within the last `maxAgeMs`. */
export function createRefreshMirror({ storage, git, pullThrough, remotes }: RefreshParts) {
  /** The branches that were compared before. The last listing may be older than a new branch. */
  const compared = new Map<string, true>();

  return async (request: RefreshRequest, maxAgeMs: number) => {
    const { workspace, branch } = request;
    const deadline = performance.now() + timeoutMs;
    let known = remotes.known(workspace);
    let hasAnswered = known.failure === undefined;
    const key = remoteKey(workspace, branch);
    if (performance.now() - known.startedAt >= maxAgeOf(known, branch, compared.has(key) ? maxAgeMs : 0)) {
      const asked = await withinMs(remotes.ask(workspace), timeoutMs, undefined);
      hasAnswered = asked !== undefined && asked.failure === undefined;
      known = asked ?? known;
    }
    if (hasAnswered) remember(compared, key, true, maxRemembered);
    const { listing, startedAt: refreshedAt } = known;
    const defaultBranch = listing?.defaultBranch;
    const isCompared = comparedWith(workspace, defaultBranch);
    const synced = await syncedBranches(storage, workspace.id);
    const newest = newestHeads(request, isCompared, listing, synced);
    const wanted = new Map([...newest].map(([name, { head }]) => [name, head]));
    await pullThrough.commits(workspace, wanted, Math.max(0, deadline - performance.now()));

    const candidates = [...newest].map(([name, newestHead]) => ({ name, heads: [newestHead, synced.get(name)] }));
    const commits = candidates.flatMap(({ heads }) => heads.flatMap((each) => each?.head ?? []));
    const missing = await git.missingCommits(workspace.id, commits);
    const heads = new Map<BranchName, Head>();
    for (const { name, heads: ofBranch } of candidates) {
      const here = ofBranch.find((each) => each !== undefined && !missing.has(each.head));
      if (here !== undefined) heads.set(name, here);
    }
    const isCurrent = hasAnswered && [...newest].every(([name, { head }]) => heads.get(name)?.head === head);
    return {
      /** The default branch is the first: with too many differences, the last ones are not compared. */
      compared: new Map(
        [...heads]
          .filter(([name]) => isCompared(name))
          .toSorted(([name], [other]) => Number(other === defaultBranch) - Number(name === defaultBranch))
          .map(([name, { head }]) => [name, head]),
      ),
      own: branch === undefined ? undefined : heads.get(branch)?.head,
      gap: gapOf(request, isCompared, listing, newest, heads),
      /** Milliseconds, by the clock of the database; set if the mirror could not be brought up to date in time. */
      asOf: isCurrent ? undefined : Math.min(...[...heads.values()].map(({ syncedAt }) => syncedAt)),
      refreshedAt,
    };
  };
}

/** A head, and the time at which it was known to be the newest of its branch. */
type Head = Pick<SyncedBranch, 'head' | 'syncedAt'>;

type Heads = ReadonlyMap<BranchName, Head>;

/** The newest known heads of the relevant branches, from the last listing of the remote and from the syncs. */
function newestHeads(
  { branch }: RefreshRequest,
  isCompared: (branch: string) => boolean,
  listing: RemoteListing | undefined,
  synced: Heads,
): Heads {
  const askedAt = listing?.askedAt ?? 0;
  const newest = new Map<BranchName, Head>();
  for (const [name, last] of synced) {
    const isListed = listing?.branches.has(name) ?? true;
    // A branch that the remote no longer has does not count, unless a later sync found it again.
    if (name === branch || (isCompared(name) && (isListed || last.syncedAt >= askedAt))) newest.set(name, last);
  }
  for (const [name, head] of listing?.branches ?? []) {
    if (!isCompared(name) && name !== branch) continue;
    const last = newest.get(name);
    // A sync that ended after the request for the listing may have fetched a newer commit.
    if (last === undefined || (last.head !== head && last.syncedAt < askedAt))
      newest.set(name, { head, syncedAt: askedAt });
  }
  return newest;
}

/** Why not all branches can be compared. */
function gapOf(
  { workspace, branch }: RefreshRequest,
  isCompared: (branch: string) => boolean,
  listing: RemoteListing | undefined,
  newest: Heads,
  heads: Heads,
): ComparisonGap | undefined {
  const isDefault = patternsOf(workspace) === null;
  if (listing === undefined && (isDefault || ![...heads.keys()].some(isCompared) || (branch && !heads.has(branch)))) {
    return {
      reason: 'The remote of the workspace does not answer, and the mirror lacks its branches.',
      isLasting: false,
    };
  }
  if (listing !== undefined && isDefault && listing.defaultBranch === undefined) {
    const advice = 'name the branches to compare with: workspace update --latest-branches';
    return { reason: `The HEAD of the remote names no branch. Correct it, or ${advice}.`, isLasting: true };
  }
  const names = [...(listing?.branches.keys() ?? [])];
  if (listing !== undefined && !names.some(isCompared)) {
    return { reason: 'The remote has no branch to compare with: correct --latest-branches.', isLasting: true };
  }
  const lacking = [...names, ...newest.keys()].find(
    (name) => (name === branch || isCompared(name)) && !heads.has(name),
  );
  if (lacking === undefined) return undefined;
  return { reason: `The mirror does not have the branch ${lacking} yet. Try again in a moment.`, isLasting: false };
}

function maxAgeOf({ listing, failure }: KnownRemote, branch: BranchName | undefined, maxAgeMs: number): number {
  if (failure !== undefined) return maxAgeOfSilenceMs;
  return branch === undefined || listing?.branches.has(branch) ? maxAgeMs : Math.min(maxAgeMs, maxAgeWithoutBranchMs);
}
