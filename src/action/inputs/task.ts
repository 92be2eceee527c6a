import type { WorkspaceId } from '../../client/access.ts';
import type { JsonObject } from '../../client/json.ts';
import type { Urgency } from '../../client/queue.ts';
import type { Duration } from '../../interface/duration.ts';
import type { Ttl } from '../../interface/ttl.ts';
import type { PoolSelection } from '../../locks/pool.ts';
import type { HandoffSelection, OnLost } from './parse.ts';
import type { PathLine } from './path-line.ts';

/** The work of one step: an operation with the inputs that it uses. */
export type Task =
  | SyncTask
  | LockTask
  | UnlockTask
  | CheckTask
  | ListLocksTask
  | RegisterHookTask
  | ListWorkspacesTask
  | ListBranchesTask;

export interface SyncTask {
  readonly operation: 'sync';
  readonly workspace: WorkspaceId;
  readonly branch: string;
  readonly wait: Duration;
}

export interface LockTask {
  readonly operation: 'lock';
  readonly workspace: WorkspaceId;
  readonly from: { readonly kind: 'paths'; readonly lines: readonly PathLine[] } | PoolSelection;
  /** The number of paths to lock. */
  readonly any: number | 'all';
  readonly type: string;
  readonly ttl: Ttl;
  readonly wait: Duration;
  readonly urgency: Urgency;
  readonly autoRelease: boolean;
  readonly renew: boolean;
  readonly onLost: OnLost;
}

export interface UnlockTask {
  readonly operation: 'unlock';
  readonly workspace: WorkspaceId;
  readonly selection: JobSelection | HandoffSelection | { readonly kind: 'paths'; readonly paths: readonly PathLine[] };
  readonly force: boolean;
}

export interface CheckTask {
  readonly operation: 'check';
  readonly workspace: WorkspaceId;
  readonly selection: JobSelection | HandoffSelection;
}

/** All locks that the job holds in the workspace. */
interface JobSelection {
  readonly kind: 'job';
}

export interface ListLocksTask {
  readonly operation: 'list-locks';
  readonly workspace: WorkspaceId;
  readonly scope: LockScope;
  readonly failIfLocked: boolean;
  readonly ignoredOwners: readonly string[];
}

export type LockScope =
  /** No paths mean the complete workspace. */
  | { readonly kind: 'paths'; readonly paths: readonly PathLine[] }
  | { readonly kind: 'changed-files'; readonly githubToken: string; readonly allowHttp: boolean };

export interface RegisterHookTask {
  readonly operation: 'register-hook';
  readonly workspace: WorkspaceId;
  readonly url: string;
  readonly events: readonly string[];
  /** Empty if not given. */
  readonly secret: string;
  readonly options: JsonObject;
}

export interface ListWorkspacesTask {
  readonly operation: 'list-workspaces';
}

export interface ListBranchesTask {
  readonly operation: 'list-branches';
  readonly workspace: WorkspaceId;
}
