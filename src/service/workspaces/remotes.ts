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

/** A workspace gets only a few of the processes, so that some silent remotes cannot use all of them. */
const processes = {
  max: 8,
  maxPerKey: 2,
  timeout: {
    // Shorter than the patience of callers, which would take a remote that was not asked for a silent one.
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
   * is at least as new.
   */
  readonly askedAt: number;
}

/** Last known state of a remote on this instance: its last response, and the failure of any later request. */
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

/** A key that includes the remote, which may change while it is being queried. */
export const remoteKey = ({ id, remote }: StoredWorkspace, ...more: readonly unknown[]): string =>
  JSON.stringify([id, remote, ...more]);

/** With more remotes than this, those that were queried longest ago are dropped. */
const maxRemembered = 1_000;

const nothing: KnownRemote = { listing: undefined, failure: undefined, startedAt: Number.NEGATIVE_INFINITY };

/**
 * Queries remotes, and remembers their last responses. Instances do not share them: each can query again at any time.
 * Every failure of a remote is a GitError.
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
   * Requests may overlap. The result of an older one that ends later is dropped. Their order is by the clock of this
   * process, because the clock of the database may be set back.
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
      // A remote that was not queried, because too many others were, has not failed.
      return failure.kind === 'busy' ? asked : store(workspace, asked);
    }
  }

  /** Queries the remote now. Callers share only a request that has not started: the result is newer than a call. */
  const askAgain = (workspace: StoredWorkspace) =>
    onceStarted(remoteKey(workspace), (onStart) => askNow(workspace, onStart));

  /** Queries the remote now. Callers share a request that is already running. */
  const ask = (workspace: StoredWorkspace) => onceRunning(remoteKey(workspace), () => askAgain(workspace));

  const estimate = (workspace: StoredWorkspace, branch: BranchName, limits: Limits): Promise<number> =>
    limitProcesses(workspace.id, async () =>
      git.estimate(workspace.id, remoteOf(workspace, allowFileRemotes), branch, limits),
    );

  return { known, ask, askAgain, estimate };
}
