import type { Generated } from 'kysely';

/** Locks, leases and the lines for them, in the types of Tables. */
export interface LockTables {
  readonly locks: {
    workspace_id: string;
    path: string;
    id: string;
    type: string;
    token_id: string;
    owner: string;
    origin: string | null;
    note: string | null;
    acquired_at: number;
    expires_at: number;
    /** If it expires, its path stays closed for this long. */
    delay_ms: Generated<number>;
    fence: number;
    /** The path in folded case; null for a lock taken without --windows-paths. */
    folded_path: string | null;
    /** Whether it was taken with Git LFS. */
    from_lfs: Generated<number>;
    /** The branch that the request named. */
    branch: string | null;
    /** The lease that the lock belongs to. */
    lease_id: string | null;
  };
  /** Sets of locks: see locks/leases.ts. A row stays for some days after its lease has ended. */
  readonly leases: {
    workspace_id: string;
    /** Chosen by the client. */
    id: string;
    owner: string;
    /** Hash of the request. Null if it was ended before it was requested. */
    fingerprint: string | null;
    /** The pool that its paths are from. */
    pool: string | null;
    state: 'held' | 'ended';
    /** The end of its locks, as far as known, or the time when it was ended. */
    expires_at: number;
  };
  /** Locks that have ended. Rows must not depend on others: each is removed when it is old. */
  readonly lock_history: {
    workspace_id: string;
    /** For an expired lock, the end of its ttl. */
    ended_at: number;
    /** Within a millisecond, the later lock has the higher one. */
    fence: number;
    /** How it ended. */
    kind: string;
    path: string;
    lock_id: string;
    owner: string;
    origin: string | null;
    note: string | null;
    acquired_at: number;
    lease_id: string | null;
    /** Owner or operator who released it, or the branch of a merge; null if it expired. */
    ended_by: string | null;
  };
  /** Leases that wait: see locks/waits.ts. */
  readonly waits: {
    id: string;
    workspace_id: string;
    kind: string;
    token_id: string;
    owner: string;
    origin: string | null;
    note: string | null;
    /** RFC 9218: from 1, first, to 5. */
    urgency: number;
    since: number;
    /** The order of the line, ascending: `since`, earlier or later by the urgency. */
    rank: number;
    asked_at: number;
    /** After this, the client no longer counts as waiting. Renewed for as long as an instance waits on its behalf. */
    present_until: number;
    /** The number of its paths, and of those that it needs. */
    size: number;
    wanted: number;
    request_id: string;
    /** When the person who asked was notified that the path is free. */
    told_at: number | null;
    fingerprint: string | null;
  };
  readonly wait_paths: {
    workspace_id: string;
    /** With --windows-paths in folded case. */
    path: string;
    wait_id: string;
    asked_path: string;
    position: number;
    rank: number;
    is_set: number;
  };
  /** When the holder of a path was last told that an owner waits for it. */
  readonly lock_requests: {
    workspace_id: string;
    path: string;
    owner: string;
    at: number;
  };
  /** The last fence of each workspace. The row outlives its workspace: a new one with the same id continues. */
  readonly fences: {
    /** Empty for the start value of workspaces that have no row yet: a restore raises it, too. */
    workspace_id: string;
    value: number;
  };
}
