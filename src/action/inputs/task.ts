import type { JsonObject } from '../../client/json.ts';
import type { WorkspaceId } from '../../client/workspace-id.ts';
import type { Duration } from '../../interface/duration.ts';
import type { Ttl } from '../../interface/ttl.ts';
import type { HandedLock } from '../locks/handed-locks.ts';
import type { PathLine } from './path-lines.ts';
import type { LossReaction } from './values.ts';

export interface SyncTask {
  readonly operation: 'sync';
  readonly workspace: WorkspaceId;
  readonly branch: string;
  readonly wait: Duration;
}

export interface LockTask {
  readonly operation: 'lock';
  readonly workspace: WorkspaceId;
  readonly paths: readonly PathLine[];
  readonly type: string;
  readonly ttl: Ttl;
  readonly wait: Duration;
  readonly autoRelease: boolean;
  readonly onLost: LossReaction;
}

/** What `unlock` releases: paths, or exactly the locks that a lock step gave out. */
export type UnlockTarget =
  | { readonly kind: 'paths'; readonly paths: readonly PathLine[] }
  | { readonly kind: 'locks'; readonly locks: readonly HandedLock[] }
  | { readonly kind: 'locks-file'; readonly file: string };

export interface UnlockTask {
  readonly operation: 'unlock';
  readonly workspace: WorkspaceId;
  readonly target: UnlockTarget;
  readonly force: boolean;
}

/** Of what `list-locks` lists the locks. */
export type LockScope =
  /** No path stands for the whole workspace. */
  | { readonly kind: 'paths'; readonly paths: readonly PathLine[] }
  | { readonly kind: 'changed-files'; readonly githubToken: string; readonly allowHttp: boolean };

export interface ListLocksTask {
  readonly operation: 'list-locks';
  readonly workspace: WorkspaceId;
  readonly scope: LockScope;
  readonly failIfLocked: boolean;
  readonly ignoredOwners: readonly string[];
}

export interface RegisterHookTask {
  readonly operation: 'register-hook';
  readonly workspace: WorkspaceId;
  readonly url: string;
  readonly events: readonly string[];
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

export type Task =
  | SyncTask
  | LockTask
  | UnlockTask
  | ListLocksTask
  | RegisterHookTask
  | ListWorkspacesTask
  | ListBranchesTask;
