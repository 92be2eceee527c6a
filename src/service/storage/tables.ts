import type { Generated } from 'kysely';
import type { HookFormat, SyncStatus } from '../../interface/resources.ts';

/**
 * The columns of each table. A table follows those that it references. Times are milliseconds since 1970 by the clock
 * of the database, lists and objects are JSON, booleans are 1 and 0. The type `bytes` is text that both databases
 * compare byte by byte, and `serial` is a primary key that increases with each row.
 */
export const tables = {
  // Settings as the operator entered them; null for defaults. `remote` may contain credentials, so no client receives
  // it. `default_branch` is the one that the remote last reported; null before that.
  workspaces: `
    id bytes primary key, remote text not null, default_branch text, created_at bigint not null, desk_ttl text,
    lfs_url text, lfs_mode text, latest text, latest_branches text, push_secret text`,
  // `owner` is the owner of its locks. `replaced_by` is the token that replaced it in a rotation. Tokens of a job have
  // its run, with a verified URL, the hash of the JWT that they were exchanged for, which can be exchanged only once,
  // and the time when both have expired.
  tokens: `
    id text primary key, name text not null, owner text not null, hash text not null unique, scopes text not null,
    workspaces text, replaced_by text, created_at bigint not null, expires_at bigint, revoked_at bigint, run_id text,
    run_origin text, trust_rule text, identity text, forget_at bigint`,
  trust_rules: `
    id text primary key, issuer text not null, owner text not null, claims text not null, scopes text not null,
    workspaces text, created_at bigint not null`,
  // Sessions of the dashboard. Each has the permissions of its token.
  sessions: `
    hash text primary key, token_id text not null references tokens (id) on delete cascade, expires_at bigint not null`,
  sign_in_links: `
    hash text primary key, expires_at bigint not null`,
  // The last fence of each workspace. The row outlives its workspace, so that a new one with the same id continues. The
  // empty id has the start value of workspaces without a row, which a restore also raises.
  fences: `
    workspace_id bytes primary key, value bigint not null`,
  signing_keys: `
    name text primary key, secret text not null`,
  locks: `
    workspace_id bytes not null references workspaces (id), path bytes not null, id bytes not null,
    owner text not null, origin text, note text,
    from_lfs integer not null default 0, lease_id text, acquired_at bigint not null,
    expires_at bigint not null, fence bigint not null,
    primary key (workspace_id, path)`,
  // A lease that holds no locks has ended, and its row stays for some days. `expires_at` is the end of its locks, as far as
  // known, or the time at which it was ended before that. `fingerprint` is a hash of the request; null if the lease
  // was ended before it was requested. The ids of its locks start with `lock_ids`, which is empty if it got none.
  leases: `
    workspace_id bytes not null references workspaces (id) on delete cascade, id text not null, owner text not null,
    fingerprint text, pool text, lock_ids bytes not null, expires_at bigint not null,
    primary key (workspace_id, id)`,
  // Ended locks; an expired one at the end of its ttl. Within a millisecond, the later lock has the higher fence.
  // `ended_by` is the owner that released it, null if it expired, and `lease_id` the lease that lost it. Rows must not
  // depend on others, because each is removed when it is old.
  lock_history: `
    workspace_id bytes not null references workspaces (id) on delete cascade, ended_at bigint not null,
    fence bigint not null, path bytes not null, lock_id bytes not null, owner text not null, origin text, note text,
    acquired_at bigint not null, lease_id text, ended_by text,
    primary key (workspace_id, ended_at, fence)`,
  // Locks that ended with their leases and are not in the history yet. No indexes: a lease may have 20,000 locks.
  ended_locks: `
    sequence serial, workspace_id bytes not null references workspaces (id) on delete cascade,
    ended_at bigint not null, fence bigint not null, path bytes not null, lock_id bytes not null, owner text not null,
    origin text, note text, acquired_at bigint not null, ended_by text`,
  // Waiting leases: see locks/waits.ts. The kind is `ask` for a person who asked, and `kept` while the path is kept for
  // that person. The rank is the position in line: `since`, moved by the urgency. The lease needs `wanted` of its
  // `size` paths, and no longer counts after `present_until`.
  waits: `
    id text primary key, workspace_id bytes not null references workspaces (id) on delete cascade,
    kind text not null, token_id text not null, owner text not null, origin text, note text,
    urgency integer not null, since bigint not null, rank bigint not null, present_until bigint not null,
    size integer not null, wanted integer not null, paths_hash text not null, request_id text not null, fingerprint text`,
  wait_paths: `
    workspace_id bytes not null, path bytes not null, wait_id text not null references waits (id) on delete cascade,
    position integer not null, rank bigint not null,
    primary key (wait_id, path)`,
  // When the holder of a path was last notified that an owner waits for it.
  lock_requests: `
    workspace_id bytes not null references workspaces (id) on delete cascade, path bytes not null,
    owner text not null, at bigint not null,
    primary key (workspace_id, path, owner)`,
  pools: `
    workspace_id bytes not null references workspaces (id) on delete cascade, name bytes not null, items text not null,
    primary key (workspace_id, name)`,
  // `received_objects` is from the last sync that received any: the estimate if the remote does not respond in time.
  synced_branches: `
    workspace_id bytes not null references workspaces (id) on delete cascade, name text not null, head text not null,
    synced_at bigint not null, received_objects bigint not null,
    primary key (workspace_id, name)`,
  // `requested_by` is the name of a token, or another trigger. `total_bytes` is null until the missing objects are
  // known. `missing` lists some of the LFS objects that could not be fetched.
  syncs: `
    id text primary key, workspace_id bytes not null references workspaces (id) on delete cascade,
    branch text not null, requested_by text not null, status text not null, estimated_objects bigint not null,
    received_objects bigint not null, received_bytes bigint not null default 0, total_bytes bigint,
    missing_objects bigint not null default 0, missing text, head text, error text, attempts integer not null,
    created_at bigint not null, started_at bigint, finished_at bigint, claimed_by text, claimed_until bigint`,
  // `active` is 0 after the receiver answered 410. `failing_since` is the first of the current series of failures.
  hooks: `
    id text primary key, workspace_id bytes not null references workspaces (id) on delete cascade,
    url text not null, events text not null, branches text, format text not null, secret text not null,
    headers text not null, active integer not null, failing_since bigint, last_error text,
    created_at bigint not null, updated_at bigint not null`,
  // Separate from `hooks`, because every event writes it and rows of `hooks` may be long. Added by the first event.
  hook_backlogs: `
    hook_id text primary key references hooks (id) on delete cascade, waiting bigint not null, dropped bigint not null`,
  // Finished deliveries are removed. The id stays the same for all attempts, so that receivers can detect duplicates.
  // Deliveries of a hook with the same key are made in order: one that waits for another has no next attempt.
  deliveries: `
    sequence serial, id text not null unique, hook_id text not null references hooks (id) on delete cascade,
    ordering_key text not null, event text not null, attempts integer not null, next_attempt_at bigint,
    created_at bigint not null, claimed_by text, claimed_until bigint`,
  // The result is JSON.
  remembered_answers: `
    token_id text not null, workspace_id bytes not null, key text not null, fingerprint text not null,
    result text not null, created_at bigint not null,
    primary key (token_id, workspace_id, key)`,
  // The token is null for actions on the command line, and for the token that a sign-in link creates.
  audit: `
    sequence serial, at bigint not null, actor text not null, token_id text, address text, action text not null,
    detail text not null`,
} as const;

export const indexes: readonly string[] = [
  'create unique index tokens_by_identity on tokens (identity)',
  'create index tokens_to_forget on tokens (forget_at)',
  'create index sessions_by_end on sessions (expires_at)',
  'create index sessions_of_token on sessions (token_id)',
  // Does not start with the workspace, or the databases would prefer it to the indexes by path and owner.
  'create index expiring_locks on locks (expires_at, workspace_id)',
  'create index locks_by_id on locks (workspace_id, id)',
  'create index locks_by_owner on locks (owner, workspace_id, path)',
  'create index leases_by_end on leases (workspace_id, expires_at)',
  'create index lock_history_of_path on lock_history (workspace_id, path, ended_at, fence)',
  'create index lost_locks_of_lease on lock_history (workspace_id, lease_id) where lease_id is not null',
  'create index waits_of_token on waits (token_id)',
  'create index waits_of_workspace on waits (workspace_id, rank)',
  `create index untold_asks on waits (id) where kind = 'ask'`,
  'create index waits_in_order on wait_paths (workspace_id, path, rank, wait_id)',
  `create unique index one_queued_sync_per_branch on syncs (workspace_id, branch) where status = 'queued'`,
  `create unique index one_running_sync_per_branch on syncs (workspace_id, branch) where status = 'running'`,
  'create index unfinished_syncs on syncs (created_at) where finished_at is null',
  'create index finished_syncs on syncs (finished_at)',
  'create index syncs_of_workspace on syncs (workspace_id, created_at)',
  'create index syncs_of_branch on syncs (workspace_id, branch, finished_at)',
  'create unique index hooks_by_url on hooks (workspace_id, url)',
  'create index next_deliveries on deliveries (hook_id, next_attempt_at, sequence) where next_attempt_at is not null',
  'create index deliveries_in_order on deliveries (hook_id, ordering_key, sequence)',
  'create index remembered_answers_of_workspace on remembered_answers (workspace_id, created_at)',
  'create index audit_by_age on audit (at)',
  // Finds out whether a run already has an entry.
  `create index audited_runs on audit (token_id) where action = 'token.exchanged'`,
];

/** The remote of a workspace that is being removed. Requests do not find that workspace, and it gets no more locks. */
export const removedRemote = '';

/** The row types, derived from the columns. */
export type Tables = { readonly [Table in keyof typeof tables]: Row<(typeof tables)[Table]> } & {
  // Only registerHook(), joinLine(), tell() and the folder `syncs` write these columns.
  readonly hooks: { format: HookFormat };
  readonly syncs: { status: SyncStatus };
  readonly waits: { kind: 'request' | 'ask' | 'kept' };
};

type Row<Columns extends string> = { [Column in Definition<Columns> as NameOf<Column>]: ValueOf<Column> };

/** The parts between commas, as a union. Parts without a space belong to a key. */
type Definition<Columns extends string, Found = never> = Columns extends `${infer Column},${infer Others}`
  ? Definition<Others, Found | Trimmed<Column>>
  : Found | Trimmed<Columns>;

type Trimmed<Text extends string> = Text extends `${' ' | '\n'}${infer Rest}` ? Trimmed<Rest> : Text;

type NameOf<Column> = Column extends `primary key${string}`
  ? never
  : Column extends `${infer Name} ${string}`
    ? Name
    : never;

type ValueOf<Column> = Column extends `${string} ${'text' | 'bytes'}${string}`
  ? OptionalOf<Column, string>
  : OptionalOf<Column, number>;

type OptionalOf<Column, Value> = Column extends `${string} serial` | `${string} default ${string}`
  ? Generated<Value>
  : Column extends `${string} ${'not null' | 'primary key'}${string}`
    ? Value
    : Value | null;
