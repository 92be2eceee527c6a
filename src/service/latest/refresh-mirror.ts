import type { ComparisonGap } from '../../interface/resources.ts';
import { withinMs } from '../../interface/timers.ts';
import { type BranchName, parseBranchName } from '../git/branch-name.ts';
import type { Git } from '../git/git.ts';
import type { PullThrough } from '../mirror/pull-through.ts';
import { remember } from '../runtime/remember.ts';
import type { Storage } from '../storage/storage.ts';
import { comparedWith, patternsOf } from '../workspaces/latest.ts';
import { type KnownRemote, type RemoteListing, type RemoteMemory, remoteKey } from '../workspaces/remote-memory.ts';
import { type SyncedBranch, syncedBranches } from '../workspaces/synced-branches.ts';
import type { FoundWorkspace } from '../workspaces/workspaces.ts';

export interface RefreshParts {
  readonly storage: Pick<Storage, 'read'>;
  readonly git: Pick<Git, 'missingCommits'>;
  readonly pullThrough: Pick<PullThrough, 'commits'>;
  readonly remoteMemory: Pick<RemoteMemory, 'known' | 'ask'>;
}

/** The heads of the branches that locks are compared with, and of the branch of a request: this instance has them all. */
export type ComparedHeads = Awaited<ReturnType<ReturnType<typeof createRefreshMirror>>>;

/** Leaves time for the comparison. */
const timeoutMs = 4_000;
const maxRemembered = 1_000;

/** A remote that did not answer is not waited for again within the same minute. */
const maxAgeOfSilenceMs = 60_000;

/** The branch may just have been pushed. */
const maxAgeWithoutBranchMs = 2_000;

export interface RefreshRequest {
  readonly workspace: FoundWorkspace;
  readonly branch: string | undefined;
  /** Whether to fetch the branch of the request like a compared one. */
  readonly syncsBranch: boolean;
}

/** Brings the mirror up to date if that was tried longer ago than `maxAgeMs`, for at most a few seconds. */
export function createRefreshMirror({ storage, git, pullThrough, remoteMemory }: RefreshParts) {
  /** By answer of a remote: the heads that this instance was found to have. */
  const found = new WeakMap<KnownRemote, Map<string, Promise<ReadonlySet<string>>>>();
  /** The branches that were compared before. */
  const compared = new Map<string, true>();

  /** The last answer of the remote, and whether it is recent enough. */
  async function askRemote({ workspace, branch }: RefreshRequest, maxAgeMs: number) {
    const known = remoteMemory.known(workspace);
    const isFirst = !compared.has(remoteKey(workspace, branch));
    const isRecent = performance.now() - known.startedAt < maxAgeOf(known, branch, isFirst ? 0 : maxAgeMs);
    const asked = isRecent ? known : await withinMs(remoteMemory.ask(workspace), timeoutMs, undefined);
    const hasAnswered = asked !== undefined && asked.failure === undefined;
    if (hasAnswered) remember(compared, remoteKey(workspace, branch), true, maxRemembered);
    return { known: asked ?? known, hasAnswered };
  }

  /** Which of the heads this instance has, after it has fetched what it lacks of the newest ones. */
  async function pull(
    workspace: FoundWorkspace,
    newest: Heads,
    synced: Heads,
    waitMs: number,
  ): Promise<ReadonlySet<string>> {
    const heads = new Map<BranchName, string>();
    for (const [text, { head }] of newest) {
      const name = parseBranchName(text);
      if (name.ok) heads.set(name.value, head);
    }
    const all = new Set(heads.values());
    if ((await pullThrough.commits(workspace, heads, waitMs)) === undefined) return all;
    for (const name of newest.keys()) all.add(synced.get(name)?.head ?? '');
    all.delete('');
    return all.difference(await git.missingCommits(workspace.id, all));
  }

  /** Once for each answer of the remote and each state of the mirror. */
  async function pullOnce(workspace: FoundWorkspace, known: KnownRemote, newest: Heads, ...more: PullRest) {
    const key = remoteKey(workspace, ...Array.from(newest, ([name, { head }]) => [name, head]));
    const ofAnswer = found.get(known) ?? new Map<string, Promise<ReadonlySet<string>>>();
    found.set(known, ofAnswer);
    const pulling = ofAnswer.get(key) ?? pull(workspace, newest, ...more);
    remember(ofAnswer, key, pulling, maxRemembered);
    try {
      const here = await pulling;
      if ([...newest.values()].some(({ head }) => !here.has(head))) ofAnswer.delete(key);
      return here;
    } catch (error) {
      ofAnswer.delete(key);
      throw error;
    }
  }

  return async (request: RefreshRequest, maxAgeMs: number) => {
    const { workspace } = request;
    const deadline = performance.now() + timeoutMs;
    const { known, hasAnswered } = await askRemote(request, maxAgeMs);
    const synced = await syncedBranches(storage, workspace.id);
    const newest = newestHeads(request, known, synced);
    const here = await pullOnce(workspace, known, newest, synced, Math.max(0, deadline - performance.now()));
    return { ...comparedHeads(request, known, hasAnswered, { newest, synced, here }), refreshedAt: known.startedAt };
  };
}

type PullRest = readonly [synced: Heads, waitMs: number];

/** The newest known heads of the branches that matter, from the last answer of the remote and from the syncs. */
function newestHeads(
  { workspace, branch, syncsBranch }: RefreshRequest,
  { listing }: KnownRemote,
  synced: Heads,
): Heads {
  const isCompared = comparedWith(workspace, listing?.defaultBranch);
  const askedAt = listing?.askedAt ?? 0;
  const listed: ReadonlyMap<string, string> | undefined = listing?.branches;
  const newest = new Map<string, Pick<SyncedBranch, 'head' | 'syncedAt'>>();
  for (const [name, last] of synced) {
    const isListed = listed?.has(name) ?? true;
    // A branch that the remote no longer has does not count, unless a sync has found it since then.
    if (name === branch || (isCompared(name) && (isListed || last.syncedAt >= askedAt))) newest.set(name, last);
  }
  for (const [name, head] of listed ?? []) {
    if (!isCompared(name) && !(syncsBranch && name === branch)) continue;
    const last = newest.get(name);
    // A sync that ended after the request for the listing may have fetched a newer commit.
    if (last === undefined || (last.head !== head && last.syncedAt < askedAt))
      newest.set(name, { head, syncedAt: askedAt });
  }
  return newest;
}

/** By branch: a head, and when it was known to be the newest. */
type Heads = ReadonlyMap<string, Pick<SyncedBranch, 'head' | 'syncedAt'>>;

interface MirrorState {
  readonly newest: Heads;
  readonly synced: Heads;
  /** The heads of both that this instance has. */
  readonly here: ReadonlySet<string>;
}

function comparedHeads(
  request: RefreshRequest,
  { listing }: KnownRemote,
  hasAnswered: boolean,
  { newest, synced, here }: MirrorState,
) {
  const { workspace, branch } = request;
  const isCompared = comparedWith(workspace, listing?.defaultBranch);
  const heads = new Map<string, Pick<SyncedBranch, 'head' | 'syncedAt'>>();
  for (const [name, newestHead] of newest) {
    const head = [newestHead, synced.get(name)].find((each) => each !== undefined && here.has(each.head));
    if (head !== undefined) heads.set(name, head);
  }
  const isCurrent = hasAnswered && [...newest].every(([name, { head }]) => heads.get(name)?.head === head);
  return {
    compared: new Map([...heads].flatMap(([name, { head }]) => (isCompared(name) ? [[name, head]] : []))),
    own: branch === undefined ? undefined : heads.get(branch)?.head,
    gap: gapOf(request, listing, newest, heads),
    /** Milliseconds, by the clock of the database; set if the mirror could not be brought up to date in time. */
    asOf: isCurrent ? undefined : Math.min(...[...heads.values()].map(({ syncedAt }) => syncedAt)),
  };
}

/** Why not all branches can be compared. */
function gapOf(
  { workspace, branch }: RefreshRequest,
  listing: RemoteListing | undefined,
  newest: Heads,
  heads: Heads,
): ComparisonGap | undefined {
  const isCompared = comparedWith(workspace, listing?.defaultBranch);
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
  const names: readonly string[] = [...(listing?.branches.keys() ?? [])];
  if (listing !== undefined && !names.some(isCompared)) {
    return { reason: 'The remote has no branch to compare with: correct --latest-branches.', isLasting: true };
  }
  const lacking = [...names, ...newest.keys()].find(
    (name) => (name === branch || isCompared(name)) && !heads.has(name),
  );
  if (lacking === undefined) return undefined;
  return { reason: `The mirror does not have the branch ${lacking} yet. Ask again in a moment.`, isLasting: false };
}

function maxAgeOf({ listing, failure }: KnownRemote, branch: string | undefined, maxAgeMs: number): number {
  if (failure !== undefined) return maxAgeOfSilenceMs;
  const listed: ReadonlyMap<string, string> | undefined = listing?.branches;
  return branch === undefined || listed?.has(branch) ? maxAgeMs : Math.min(maxAgeMs, maxAgeWithoutBranchMs);
}
