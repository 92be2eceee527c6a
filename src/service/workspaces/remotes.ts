import type { BranchName } from '../../interface/branch-name.ts';
import type { RemoteBranches } from '../git/fetch.ts';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { parseRemote, type Remote } from '../git/remote.ts';
import type { Limits } from '../git/run-git.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import { createOnce } from '../runtime/once.ts';
import { remember } from '../runtime/remember.ts';
import type { Storage } from '../storage/storage.ts';
import { timeOf } from '../storage/timestamp.ts';
import { noteDefaultBranch, type StoredWorkspace } from './workspaces.ts';

/** One workspace gets few of the processes: some remotes that do not respond cannot use them all. */
const processes = {
  max: 8,
  maxPerKey: 2,
  timeout: {
    // Earlier than callers give up, which take a remote without a response for a silent one.
    ms: 3_000,
    error: () => new GitError('busy', 'Too many remotes are being queried. Try again in a few seconds.'),
  },
};

/** Throws a GitError if the service may not use the remote. */
export function remoteOf({ remote }: Pick<StoredWorkspace, 'remote'>, allowFile: boolean): Remote {
  const parsed = parseRemote(remote, { allowFile });
  if (!parsed.ok) throw new GitError('failed', parsed.reason);
  return parsed.value;
}

const listTimeoutMs = 10_000;

export interface RemoteListing extends RemoteBranches {
  /**
   * Milliseconds, by the clock of the database: the time of the request, after any wait for a free process. The listing
   * is not older than this.
   */
  readonly askedAt: number;
}

/** Last known state of a remote on this instance: its last response, and the failure of a later request. */
export interface KnownRemote {
  readonly listing: RemoteListing | undefined;
  readonly failure: GitError | undefined;
  /** Start of the last request, by the clock of this process. */
  readonly startedAt: number;
}

export type AskedRemote = KnownRemote &
  ({ readonly listing: RemoteListing; readonly failure: undefined } | { readonly failure: GitError });

export type Remotes = ReturnType<typeof createRemotes>;

interface RemotesParts {
  readonly storage: Pick<Storage, 'read' | 'commit'>;
  readonly git: Pick<Git, 'branches' | 'estimate'>;
  readonly allowFileRemotes: boolean;
  readonly stopping: AbortSignal;
}

/** A key with the remote, which may change while it is being asked. */
export const remoteKey = ({ id, remote }: StoredWorkspace, ...more: readonly unknown[]): string =>
  JSON.stringify([id, remote, ...more]);

/** Beyond this number, the remotes that were asked longest ago are dropped. */
const maxRemembered = 1_000;

const nothing: KnownRemote = { listing: undefined, failure: undefined, startedAt: Number.NEGATIVE_INFINITY };

/**
 * Asks remotes, and remembers their last answers. Not shared between instances: they can ask again at any time. Every
 * failure of a remote is a GitError.
 */
export function createRemotes({ storage, git, allowFileRemotes, stopping }: RemotesParts) {
  const limitProcesses = limitParallel(processes);
  const memory = new Map<string, { remote: string; known: KnownRemote }>();
  const onceRunning = createOnce<AskedRemote>();
  const onceStarted = createOnce<AskedRemote>();

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
    const at = await timeOf(storage.read);
    const startedAt = performance.now();
    let askedAt = at;
    try {
      const response = await limitProcesses(workspace.id, async () => {
        askedAt = at + Math.round(performance.now() - startedAt);
        onStart();
        const limits = { timeoutMs: listTimeoutMs, signal: stopping };
        return git.branches(remoteOf(workspace, allowFileRemotes), limits);
      });
      const { defaultBranch } = response;
      if (defaultBranch !== undefined) await noteDefaultBranch(storage, workspace, defaultBranch);
      return store(workspace, { listing: { ...response, askedAt }, failure: undefined, startedAt });
    } catch (failure) {
      if (!(failure instanceof GitError)) throw failure;
      const asked = { listing: known(workspace).listing, failure, startedAt };
      // A remote that was not asked, because too many others were being asked, has not failed.
      return failure.kind === 'busy' ? asked : store(workspace, asked);
    }
  }

  /** Asks the remote now. Callers share only a request that has not started, so each result is newer than its call. */
  const askAgain = (workspace: StoredWorkspace) =>
    onceStarted(remoteKey(workspace), (onStart) => askNow(workspace, onStart));

  /** Asks the remote now. Callers share a request that is already running. */
  const ask = (workspace: StoredWorkspace) => onceRunning(remoteKey(workspace), () => askAgain(workspace));

  const estimate = (workspace: StoredWorkspace, branch: BranchName, limits: Limits): Promise<number> =>
    limitProcesses(workspace.id, async () =>
      git.estimate(workspace.id, remoteOf(workspace, allowFileRemotes), branch, limits),
    );

  return { known, ask, askAgain, estimate };
}
