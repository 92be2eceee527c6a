import type { BranchName } from '../git/branch-name.ts';
import { GitError } from '../git/git-error.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import { createOnce } from '../runtime/once.ts';
import { remember } from '../runtime/remember.ts';
import type { Storage } from '../storage/storage.ts';
import { listBranchesTimeout, type Remotes } from './remotes.ts';
import type { StoredWorkspace } from './workspaces.ts';

/** Times are milliseconds, by the clock of the database. */
export interface RemoteListing {
  readonly branches: ReadonlyMap<BranchName, string>;
  readonly defaultBranch: BranchName | undefined;
  /** Time of the request, after any wait for a free process: the listing is not older than this. */
  readonly askedAt: number;
  readonly answeredAt: number;
}

interface RemoteFailure {
  /** A sentence for users. */
  readonly reason: string;
  /** True if the remote was not asked, because too many others were being asked. */
  readonly isBusy: boolean;
  readonly askedAt: number;
  readonly answeredAt: number;
}

/** Last known state of a remote on this instance: its last response, and the failure of a later request. */
export interface KnownRemote {
  readonly listing: RemoteListing | undefined;
  readonly failure: RemoteFailure | undefined;
  /** Start of the last request, by the clock of this process. */
  readonly startedAt: number;
}

/** State of a remote that was just asked. */
export type AskedRemote = KnownRemote &
  ({ readonly listing: RemoteListing; readonly failure: undefined } | { readonly failure: RemoteFailure });

export type RemoteMemory = ReturnType<typeof createRemoteMemory>;

interface RemoteMemoryParts {
  readonly storage: Pick<Storage, 'read' | 'now'>;
  readonly remotes: Pick<Remotes, 'branches'>;
  readonly stopping: AbortSignal;
}

/** A key with the remote, which may change while it is being asked. */
export const remoteKey = ({ id, remote }: StoredWorkspace, ...more: readonly unknown[]): string =>
  JSON.stringify([id, remote, ...more]);

/** Maximum number of git processes for refreshes that no caller waits for. */
const maxInBackground = 2;

/** Beyond this number, the remotes that were asked longest ago are dropped. */
const maxRemembered = 1_000;

const nothing: KnownRemote = { listing: undefined, failure: undefined, startedAt: Number.NEGATIVE_INFINITY };

/**
 * A remote takes up to ten seconds to respond, and a page shows many remotes: pages show the known state and refresh it
 * in the background. The state is not shared between instances, because it can be requested again at any time.
 */
export function createRemoteMemory({ storage, remotes, stopping }: RemoteMemoryParts) {
  const memory = new Map<string, { remote: string; known: KnownRemote }>();
  const onceRunning = createOnce<AskedRemote>();
  const onceStarted = createOnce<AskedRemote>();
  const onceSoon = createOnce<void>();
  const limitBackground = limitParallel({ max: maxInBackground });

  function known({ id, remote }: StoredWorkspace): KnownRemote {
    const remembered = memory.get(id);
    // The workspace may have been removed and added again with another remote.
    return remembered?.remote === remote ? remembered.known : nothing;
  }

  /**
   * Requests may overlap: an older one that ends later is not remembered. Their order is by the clock of this process,
   * because that of the database may step back.
   */
  function store({ id, remote }: StoredWorkspace, asked: AskedRemote): AskedRemote {
    if ((memory.get(id)?.known.startedAt ?? 0) <= asked.startedAt)
      remember(memory, id, { remote, known: asked }, maxRemembered);
    return asked;
  }

  async function askNow(workspace: StoredWorkspace, onStart: () => void): Promise<AskedRemote> {
    const { at } = await storage.read.selectNoFrom(storage.now.as('at')).executeTakeFirstOrThrow();
    const startedAt = performance.now();
    const time = () => at + Math.round(performance.now() - startedAt);
    let askedAt = at;
    const times = () => ({ askedAt, answeredAt: time() });
    try {
      const response = await remotes.branches(workspace, { ...listBranchesTimeout, signal: stopping }, () => {
        askedAt = time();
        onStart();
      });
      return store(workspace, { listing: { ...response, ...times() }, failure: undefined, startedAt });
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      const failure = { reason: error.message, isBusy: error.kind === 'busy', ...times() };
      const asked = { listing: known(workspace).listing, failure, startedAt };
      return failure.isBusy ? asked : store(workspace, asked);
    }
  }

  /** Asks the remote now. Callers share only a request that has not started, so each result is newer than its call. */
  const askAgain = (workspace: StoredWorkspace) =>
    onceStarted(remoteKey(workspace), (onStart) => askNow(workspace, onStart));

  /** Asks the remote now. Callers share a request that is already running. */
  const ask = (workspace: StoredWorkspace) => onceRunning(remoteKey(workspace), () => askAgain(workspace));

  return {
    known,
    ask,
    askAgain,
    /** Queues a request, unless one is queued already. Few run at a time, to leave slots for calls of `ask`. */
    askSoon(workspace: StoredWorkspace): void {
      onceSoon(workspace.id, (onStart) =>
        limitBackground(workspace.id, async () => {
          onStart();
          if (!stopping.aborted) await ask(workspace);
        }),
      )
        // The database does not respond. The next page reports this itself.
        .catch(() => undefined);
    },
  };
}
