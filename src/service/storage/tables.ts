import type { Generated } from 'kysely';

/** Times are milliseconds since 1970 by the database's clock; lists and objects are JSON text; yes and no are 1 and 0. */
export interface Tables {
  readonly tokens: {
    id: string;
    name: string;
    /** Owner of its locks. Null if an earlier version created the token: then its name. */
    owner: string | null;
    /** The id of the token that took over when this one was rotated. */
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
    /** The address of the run, as its identity proves it. */
    run_origin: string | null;
    /** The ids of the trust rules that allowed it. */
    trust_rules: string | null;
    /** A hash that identifies the JWT, which can be exchanged once. */
    identity: string | null;
    /** When the token and the JWT are both over. */
    forget_at: number | null;
  };
  /** See trust/rules.ts. */
  readonly trust_rules: {
    id: string;
    issuer: string;
    owner: string;
    claims: string;
    workflow: string | null;
    repository: string | null;
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
    /** As the operator gave it, credentials included: it never leaves the service but to git. */
    remote: string;
    created_at: number;
    /** How long a lock taken at a desk lasts, as the operator wrote it; null for the default. */
    desk_ttl: string | null;
    /** URL of its LFS store; null to derive it from the remote. */
    lfs_url: string | null;
    /** See workspaces/lfs-mode.ts. */
    lfs_mode: string | null;
    /** How many bytes its LFS objects may take; null for no limit. */
    lfs_limit: number | null;
  };
  readonly synced_branches: {
    workspace_id: string;
    name: string;
    head: string;
    synced_at: number;
    /** The number of objects in the last sync: the estimate if the remote does not respond in time. */
    received_objects: number;
    /** The `synced_at` of the last sync before the remote listed its branches without this one; void once they differ. */
    vanished_after: Generated<number | null>;
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
    /** The name of the token that asked for it. */
    requested_by: string | null;
    /** Bytes of LFS objects. */
    received_bytes: Generated<number>;
    /** Null until it is known which objects the mirror lacks. */
    total_bytes: number | null;
    /** LFS objects that could not be fetched; some of them in JSON. */
    missing_objects: Generated<number>;
    missing: string | null;
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
    /** The note counts only if this is the id of the lock: earlier versions leave the note of the lock before. */
    noted_lock_id: string | null;
    acquired_at: number;
    expires_at: number;
    fence: number;
    /** The path in folded case; null for a lock taken without --windows-paths. */
    folded_path: string | null;
    /**
     * Its own id where it was taken at a desk. Anything else says nothing: an instance of an earlier version leaves here what
     * it finds when a lock takes the place of one that has expired.
     */
    desk_id: string | null;
  };
  /** Takes and ends of locks; renewals are left out. Each row stands for itself: an earlier version writes none. */
  readonly lock_history: {
    workspace_id: string;
    /** The time of the change. For an expired lock, the end of its ttl. */
    at: number;
    /** Fence of the lock: within a millisecond, the later lock has the higher one. */
    fence: number;
    /** For one lock, `acquired` sorts before all others. */
    kind: string;
    path: string;
    lock_id: string;
    owner: string;
    origin: string | null;
    note: string | null;
    /** Name of the token that released it; null for the other kinds. */
    ended_by: string | null;
  };
  /** Recent requests for locked paths, at most one row for each path and run: see refused-requests.ts. */
  readonly refused_lock_requests: {
    /** A hash of the workspace, path, owner and origin. */
    key: string;
    workspace_id: string;
    path: string;
    owner: string;
    origin: string | null;
    first_at: number;
    last_at: number;
  };
  /** The last fence of each workspace. The row outlives its workspace: a new one with the same id continues. */
  readonly fences: {
    /** Empty for where workspaces begin that have no row yet. */
    workspace_id: string;
    value: number;
  };
  readonly hooks: {
    id: string;
    workspace_id: string;
    url: string;
    events: string;
    branches: string | null;
    format: string;
    secret: string;
    headers: string;
    active: number;
    /** Null while it is active. */
    inactive_why: string | null;
    /** When it was last woken; what was held for it is no older than that. */
    resumed_at: number | null;
    /** When the first of the attempts was made that have all failed since; null where the last one succeeded. */
    failing_since: number | null;
    created_at: number;
    updated_at: number;
  };
  /** A table of its own: it is written with every event, and a row of hooks may be long. None before the first event. */
  readonly hook_backlogs: {
    hook_id: string;
    /** Deliveries that are not over. */
    waiting: number;
    /** Events dropped for the hook, because too many were waiting. */
    dropped: number;
    first_dropped_at: number | null;
    last_dropped_at: number | null;
  };
  readonly quotas: {
    name: string;
    value: number;
  };
  /** The LFS objects of a workspace as they were measured last. */
  readonly lfs_usage: {
    workspace_id: string;
    objects: number;
    bytes: number;
    /** Bytes that the heads of the synced branches need; null if all fit. */
    needed_bytes: number | null;
  };
  /** Signing keys that all instances of a service share. */
  readonly signing_keys: {
    name: string;
    secret: string;
  };
  readonly deliveries: {
    /** Grows in the order in which the events were committed. */
    sequence: Generated<number>;
    /** The same for every attempt, so that a receiver can tell a repetition. */
    id: string;
    hook_id: string;
    /** Deliveries of one hook with the same key are made one after the other. */
    ordering_key: string;
    event: string;
    status: string;
    attempts: number;
    /** Null while it waits for another delivery, and after its end. */
    next_attempt_at: number | null;
    last_error: string | null;
    /** When the last attempt was made, how long it took, and what was answered; null before the first. */
    last_attempt_at: number | null;
    last_duration_ms: number | null;
    last_answer: string | null;
    created_at: number;
    finished_at: number | null;
    lease_owner: string | null;
    lease_until: number | null;
  };
  readonly remembered_answers: {
    token_id: string;
    /** Empty for a request that is about none. */
    workspace_id: string;
    key: string;
    fingerprint: string;
    status: number;
    headers: string;
    body: string;
    created_at: number;
  };
  readonly audit: {
    sequence: Generated<number>;
    at: number;
    actor: string;
    /** Null for what was done at the command line. */
    token_id: string | null;
    address: string | null;
    action: string;
    detail: string;
  };
}
