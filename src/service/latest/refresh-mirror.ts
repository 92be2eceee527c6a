import { setTimeout as sleep } from 'node:timers/promises';
import { createOnce } from '../runtime/once.ts';
import type { Storage } from '../storage/storage.ts';
import { enqueue, findSync } from '../syncs/queue.ts';
import { branchStatuses } from '../workspaces/branch-state.ts';
import { comparedWith } from '../workspaces/latest.ts';
import type { RemoteMemory } from '../workspaces/remote-memory.ts';
import { syncedBranches } from '../workspaces/synced-branches.ts';
import type { FoundWorkspace } from '../workspaces/workspaces.ts';

export interface RefreshParts {
  readonly storage: Storage;
  readonly remoteMemory: Pick<RemoteMemory, 'known' | 'ask'>;
  /** Called after a sync was queued. */
  readonly onQueued: () => void;
}

/** The heads in the mirror of the branches that locks are compared with, and of the branch of a request. */
export interface ComparedHeads {
  readonly compared: ReadonlyMap<string, string>;
  readonly own: string | undefined;
  /** Milliseconds, by the clock of the database; set if the mirror could not be brought up to date in time. */
  readonly asOf: number | undefined;
  /** When the mirror was last compared with the remote, by the clock of this process. */
  readonly refreshedAt: number;
}

/** Brings the mirror up to date if that was tried longer ago than `maxAgeMs`, for at most a few seconds. */
export type RefreshMirror = (
  workspace: FoundWorkspace,
  branch: string | undefined,
  maxAgeMs: number,
) => Promise<ComparedHeads>;

const timeoutMs = 5_000;
const pollMs = 100;
const maxRemembered = 1_000;

interface Refresh {
  readonly at: number;
  readonly isCurrent: boolean;
}

export function createRefreshMirror({ storage, remoteMemory, onQueued }: RefreshParts): RefreshMirror {
  const once = createOnce<Refresh>();
  /** A remote that is slow or silent is not waited for again within the same minute. */
  const refreshes = new Map<string, Refresh>();

  const countsIn = (workspace: FoundWorkspace) => {
    const { listing } = remoteMemory.known(workspace);
    return comparedWith(workspace, listing?.defaultBranch);
  };

  async function refresh(workspace: FoundWorkspace, branch: string | undefined, at: number): Promise<Refresh> {
    const deadline = performance.now() + timeoutMs;
    const isLate = () => performance.now() >= deadline;
    const asked = await Promise.race([remoteMemory.ask(workspace), sleep(timeoutMs, undefined, { ref: false })]);
    if (asked === undefined || asked.failure !== undefined) return { at, isCurrent: false };
    const { id } = workspace;
    const counts = countsIn(workspace);
    const statuses = branchStatuses(asked, await syncedBranches(storage, id));
    const behind = statuses.filter(
      ({ name, state }) => (state === 'behind' || state === 'unsynced') && (name === branch || counts(name)),
    );
    const syncs = await Promise.all(
      behind.map(({ name }) =>
        storage.commit({ workspace: id }, (db) =>
          enqueue(db, storage.now, { workspace: id, branch: name, estimatedObjects: 0, requestedBy: 'a lock request' }),
        ),
      ),
    );
    if (syncs.length > 0) onQueued();
    for (const { sync_id } of syncs) {
      for (;;) {
        const sync = await findSync(storage.read, id, sync_id);
        if (sync === undefined || sync.status === 'failed' || isLate()) return { at, isCurrent: false };
        if (sync.status === 'succeeded') break;
        await sleep(pollMs);
      }
    }
    return { at, isCurrent: true };
  }

  async function lastRefresh(workspace: FoundWorkspace, branch: string | undefined, maxAgeMs: number) {
    const key = JSON.stringify([workspace.id, workspace.remote, branch]);
    const last = refreshes.get(key);
    const at = performance.now();
    if (last !== undefined && at - last.at <= maxAgeMs) return last;
    const done = await once(key, () => refresh(workspace, branch, at));
    refreshes.delete(key);
    refreshes.set(key, done);
    const [oldest] = refreshes.keys();
    if (refreshes.size > maxRemembered && oldest !== undefined) refreshes.delete(oldest);
    return done;
  }

  return async (workspace, branch, maxAgeMs) => {
    const { at, isCurrent } = await lastRefresh(workspace, branch, maxAgeMs);
    const synced = await syncedBranches(storage, workspace.id);
    const counts = countsIn(workspace);
    const considered = [...synced].filter(([name]) => name === branch || counts(name));
    return {
      compared: new Map(considered.flatMap(([name, { head }]) => (counts(name) ? [[name, head]] : []))),
      own: branch === undefined ? undefined : synced.get(branch)?.head,
      asOf: isCurrent ? undefined : Math.min(...considered.map(([, { syncedAt }]) => syncedAt)),
      refreshedAt: at,
    };
  };
}
