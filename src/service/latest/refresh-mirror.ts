import { setTimeout as sleep } from 'node:timers/promises';
import type { BranchName } from '../git/branch-name.ts';
import type { Git } from '../git/git.ts';
import { createOnce } from '../runtime/once.ts';
import { remember } from '../runtime/remember.ts';
import type { Storage } from '../storage/storage.ts';
import { enqueue, findSync } from '../syncs/queue.ts';
import { branchStatuses } from '../workspaces/branch-state.ts';
import { comparedWith, patternsOf } from '../workspaces/latest.ts';
import { type RemoteListing, type RemoteMemory, remoteKey } from '../workspaces/remote-memory.ts';
import { type SyncedBranch, syncedBranches } from '../workspaces/synced-branches.ts';
import type { FoundWorkspace } from '../workspaces/workspaces.ts';

export interface RefreshParts {
  readonly storage: Storage;
  readonly git: Pick<Git, 'heads'>;
  readonly remoteMemory: Pick<RemoteMemory, 'known' | 'ask'>;
}

type RefreshMirror = ReturnType<typeof createRefreshMirror>;

/** The heads in the mirror of the branches that locks are compared with, and of the branch of a request. */
export type ComparedHeads = Awaited<ReturnType<RefreshMirror>>;

const timeoutMs = 5_000;
const pollMs = 200;
const maxRemembered = 1_000;

const maxAgeOfSilenceMs = 60_000;

/** The branch may just have been pushed. */
const maxAgeWithoutBranchMs = 2_000;

export interface RefreshRequest {
  readonly workspace: FoundWorkspace;
  readonly branch: string | undefined;
  /** Whether to sync the branch of the request like a compared one. */
  readonly syncsBranch: boolean;
}

interface Answer {
  readonly at: number;
  /** Undefined if the remote did not answer in time. */
  readonly listing: RemoteListing | undefined;
}

interface Refresh {
  /** When the remote was asked, by the clock of this process. */
  readonly at: number;
  readonly isCurrent: boolean;
  /** Heads that the mirror has, although their syncs may still fetch LFS objects, or have failed to. */
  readonly fetched: ReadonlyMap<string, SyncedBranch>;
}

/** Brings the mirror up to date if that was tried longer ago than `maxAgeMs`, for at most a few seconds. */
export function createRefreshMirror({ storage, git, remoteMemory }: RefreshParts) {
  const onceAnswered = createOnce<Answer>();
  const onceRefreshed = createOnce<Refresh>();
  const answers = new Map<string, Answer>();
  const refreshes = new Map<string, Refresh>();

  async function answerOf({ workspace, branch }: RefreshRequest, isFirst: boolean, maxAgeMs: number): Promise<Answer> {
    const key = remoteKey(workspace);
    const last = answers.get(key);
    if (last !== undefined && performance.now() - last.at < maxAgeOf(last, branch, isFirst, maxAgeMs)) return last;
    return onceAnswered(key, async () => {
      const at = performance.now();
      const asked = await Promise.race([remoteMemory.ask(workspace), sleep(timeoutMs, undefined, { ref: false })]);
      const answer = { at, listing: asked?.failure === undefined ? asked?.listing : undefined };
      // A remote that was not asked for want of a process may answer the next request.
      if (!asked?.failure?.isBusy) remember(answers, key, answer, maxRemembered);
      return answer;
    });
  }

  async function refresh(request: RefreshRequest, answer: Answer, deadline: number): Promise<Refresh> {
    const { workspace, branch, syncsBranch } = request;
    const { id } = workspace;
    const { at, listing } = answer;
    const fetched = new Map<string, SyncedBranch>();
    if (listing === undefined) return { at, isCurrent: false, fetched };
    const counts = comparedWith(workspace, listing.defaultBranch);
    const synced = await syncedBranches(storage, id);
    const statuses = branchStatuses({ listing, failure: undefined }, synced);
    const wanted = new Set(
      statuses.flatMap(({ name, state }) =>
        state !== 'unknown' && (counts(name) || (syncsBranch && name === branch)) ? [name] : [],
      ),
    );
    /** The branches whose head the mirror lacks: also those that it has lost, or that another instance has fetched. */
    async function missing(branches: readonly (readonly [BranchName, string])[]) {
      const heads = await git.heads(id);
      return branches.filter(([name, listed]) => {
        if (heads.get(name) !== listed) return true;
        if (synced.get(name)?.head !== listed) fetched.set(name, { head: listed, syncedAt: askedAt });
        return false;
      });
    }
    /** Another instance with a mirror of its own may have run the sync. */
    const isHere = async (name: BranchName): Promise<boolean> =>
      (await git.heads(id)).get(name) === (await syncedBranches(storage, id)).get(name)?.head;
    const { askedAt, branches } = listing;
    const behind = await missing([...branches].filter(([name]) => wanted.has(name)));
    if (behind.length === 0) return { at, isCurrent: true, fetched };
    const syncs = await storage.commit({ workspace: id }, async (db) => {
      const queued = new Map<BranchName, string>();
      for (const [name] of behind) {
        const sync = { workspace: id, branch: name, estimatedObjects: 0, requestedBy: 'a lock request' };
        queued.set(name, (await enqueue(db, storage.now, sync)).sync_id);
      }
      return queued;
    });
    for (const [name, head] of behind) {
      for (;;) {
        const { status } = (await findSync(storage.read, id, syncs.get(name) ?? '')) ?? { status: 'failed' };
        if ((await missing([[name, head]])).length === 0 || (status === 'succeeded' && (await isHere(name)))) break;
        const isOver = status === 'succeeded' || status === 'failed' || performance.now() >= deadline;
        if (isOver) return { at, isCurrent: false, fetched };
        await sleep(pollMs);
      }
    }
    return { at, isCurrent: true, fetched };
  }

  async function lastRefresh(request: RefreshRequest, maxAgeMs: number): Promise<Refresh> {
    const { workspace, branch, syncsBranch } = request;
    const key = remoteKey(workspace, workspace.latest_branches, branch, syncsBranch);
    return onceRefreshed(`${maxAgeMs} ${key}`, async () => {
      const deadline = performance.now() + timeoutMs;
      const last = refreshes.get(key);
      const answer = await answerOf(request, last === undefined, maxAgeMs);
      if (last?.at === answer.at) return last;
      const done = await refresh(request, answer, deadline);
      remember(refreshes, key, done, maxRemembered);
      return done;
    });
  }

  return async (request: RefreshRequest, maxAgeMs: number) => {
    const { workspace, branch } = request;
    const { at, isCurrent, fetched } = await lastRefresh(request, maxAgeMs);
    const heads = new Map(await syncedBranches(storage, workspace.id));
    for (const [name, head] of fetched) {
      if ((heads.get(name)?.syncedAt ?? 0) < head.syncedAt) heads.set(name, head);
    }
    const { listing } = remoteMemory.known(workspace);
    const counts = comparedWith(workspace, listing?.defaultBranch);
    const matters = (name: string): boolean => name === branch || counts(name);
    const listed: ReadonlyMap<string, string> | undefined = listing?.branches;
    // A branch that the remote no longer has does not count, unless a sync has found it since then.
    const considered = [...heads].filter(
      ([name, { syncedAt }]) =>
        matters(name) && (listing === undefined || listed?.has(name) || syncedAt >= listing.askedAt),
    );
    const isDefaultUnknown = listing === undefined && patternsOf(workspace) === null;
    const lacksAny = isDefaultUnknown || [...(listed ?? [])].some(([name]) => matters(name) && !heads.has(name));
    return {
      compared: new Map(considered.flatMap(([name, { head }]) => (counts(name) ? [[name, head]] : []))),
      own: branch === undefined ? undefined : heads.get(branch)?.head,
      /**
       * Milliseconds, by the clock of the database; set if the mirror could not be brought up to date in time. Infinite
       * if the mirror lacks a branch.
       */
      asOf: lacksAny ? Infinity : isCurrent ? undefined : Math.min(...considered.map(([, { syncedAt }]) => syncedAt)),
      /** When the mirror was last compared with the remote, by the clock of this process. */
      refreshedAt: at,
    };
  };
}

/**
 * A remote that is slow or silent is not waited for again within the same minute. One that answers is asked at once for
 * a branch that was not compared before.
 */
function maxAgeOf({ listing }: Answer, branch: string | undefined, isFirst: boolean, maxAgeMs: number): number {
  if (listing === undefined) return maxAgeOfSilenceMs;
  if (isFirst) return 0;
  const listed: ReadonlyMap<string, string> = listing.branches;
  return branch === undefined || listed.has(branch) ? maxAgeMs : Math.min(maxAgeMs, maxAgeWithoutBranchMs);
}
