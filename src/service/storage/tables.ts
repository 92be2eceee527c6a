import type { Generated } from 'kysely';
import type { HookFormat } from '../../interface/resources.ts';

/** Times are milliseconds since 1970 by the clock of the database, lists and objects are JSON, booleans are 1 and 0. */
export interface Tables {
  readonly tokens: {
    id: string;
    name: string;
    /** Owner of its locks. */
    owner: string;
    /** Id of the token that replaced this one in a rotation. */
    replaced_by: string | null;
    hash: string;
    scopes: string;
    /** Null: all workspaces. */
    workspaces: string | null;
    created_at: number;
    expires_at: number | null;
    revoked_at: number | null;
    /** Approximate time of last use: written periodically, not on each request. */
    last_used_at: number | null;
    /** Run of an exchanged token: the same for all tokens of the run. Null for other tokens. */
    run_id: string | null;
    /** URL of the run, verified by its identity token. */
    run_origin: string | null;
    trust_rules: string | null;
    /** Hash that identifies the JWT, which can be exchanged only once. */
    identity: string | null;
    /** Time when the token and the JWT have both expired. */
    forget_at: number | null;
  };
  readonly trust_rules: {
    id: string;
    issuer: string;
    owner: string;
    claims: string;
    scopes: string;
    /** Null: all workspaces. */
    workspaces: string | null;
    created_at: number;
  };
  /** Dashboard sessions: each has the permissions of its token. */
  readonly sessions: {
    hash: string;
    token_id: string;
    created_at: number;
    expires_at: number;
  };
  /** One-time sign-in links, such as the one that the first start prints for the operator. */
  readonly sign_in_links: {
    hash: string;
    created_at: number;
    expires_at: number;
    used_at: number | null;
  };
  readonly workspaces: {
    id: string;
    /** Address as the operator entered it, with credentials: no client ever receives it. */
    remote: string;
    /** The default branch of the remote at the last request; null before. */
    default_branch: string | null;
    created_at: number;
    /** Ttl of locks taken with Git LFS, as the operator wrote it; null for the default. */
    desk_ttl: string | null;
    /** URL of its LFS store; null to derive it from the remote. */
    lfs_url: string | null;
    lfs_mode: string | null;
    latest: string | null;
    /** JSON array of patterns; null for the default branch of the remote. */
    latest_branches: string | null;
    push_locks: string | null;
    push_secret: string | null;
    /** How long a path stays closed after its lock has expired; null for the setting of the service. */
    lock_delay_ms: number | null;
  };
  readonly synced_branches: {
    workspace_id: string;
    name: string;
    head: string;
    synced_at: number;
    /** Number of objects in the last sync that received any: the estimate if the remote does not respond in time. */
    received_objects: number;
  };
  readonly syncs: {
    id: string;
    workspace_id: string;
    branch: string;
    status: string;
    estimated_objects: number;
    received_objects: number;
    head: string | null;
    error: string | null;
    attempts: number;
    created_at: number;
    started_at: number | null;
    finished_at: number | null;
    lease_owner: string | null;
    lease_until: number | null;
    /** Name of the token that requested it, or what else did. */
    requested_by: string;
    received_bytes: Generated<number>;
    /** Null until the missing objects are known. */
    total_bytes: number | null;
    /** Number of LFS objects that could not be fetched. `missing` lists some of them. */
    missing_objects: Generated<number>;
    missing: string | null;
  };
  readonly pool_items: {
    workspace_id: string;
    pool: string;
    position: number;
    path: string;
    properties: string;
    /** JSON array of the names of secret properties. */
    secrets: string;
  };
  readonly hooks: {
    id: string;
    workspace_id: string;
    url: string;
    events: string;
    branches: string | null;
    format: HookFormat;
    secret: string;
    headers: string;
    /** 0 after its receiver answered 410. */
    active: number;
    /** Time of the first of all consecutive failed attempts; null if the last attempt succeeded. */
    failing_since: number | null;
    /** The error of the last attempt that failed. */
    last_error: string | null;
    created_at: number;
    updated_at: number;
  };
  /** Separate from `hooks`, whose rows may be long, because every event writes it. No row before the first event. */
  readonly hook_backlogs: {
    hook_id: string;
    waiting: number;
    /** Events dropped for the hook, because too many were waiting. */
    dropped: number;
  };
  readonly quotas: {
    name: string;
    value: number;
  };
  readonly signing_keys: {
    name: string;
    secret: string;
  };
  /** Waiting deliveries: those that have ended are removed. */
  readonly deliveries: {
    /** Increases in the order in which events were committed. */
    sequence: Generated<number>;
    /** The same for every attempt, so that receivers can detect duplicates. */
    id: string;
    hook_id: string;
    /** Deliveries of one hook with the same key are made one after the other. */
    ordering_key: string;
    event: string;
    attempts: number;
    /** Null while it waits for another delivery. */
    next_attempt_at: number | null;
    created_at: number;
    lease_owner: string | null;
    lease_until: number | null;
  };
  readonly remembered_answers: {
    token_id: string;
    /** Empty for a request without a workspace. */
    workspace_id: string;
    key: string;
    fingerprint: string;
    /** JSON of what the request led to. */
    result: string;
    created_at: number;
  };
  readonly audit: {
    sequence: Generated<number>;
    at: number;
    actor: string;
    /** Null for actions on the command line. */
    token_id: string | null;
    address: string | null;
    action: string;
    detail: string;
  };
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
