import type { Spelling } from './spelling.ts';

/** Applied once each, in this order. A released migration never changes: append a new one instead. */
export const migrations: readonly ((words: Spelling) => readonly string[])[] = [
  ({ byteOrder, sequence }) => [
    `create table tokens (
      id text primary key, name text not null, hash text not null unique, scopes text not null, workspaces text,
      created_at bigint not null, expires_at bigint, revoked_at bigint)`,
    `create table workspaces (id text ${byteOrder} primary key, remote text not null, created_at bigint not null)`,
    `create table synced_branches (
      workspace_id text ${byteOrder} not null references workspaces (id) on delete cascade, name text not null,
      head text not null, synced_at bigint not null, received_objects bigint not null,
      primary key (workspace_id, name))`,
    `create table syncs (
      id text primary key, workspace_id text ${byteOrder} not null references workspaces (id) on delete cascade,
      branch text not null, status text not null, estimated_objects bigint not null, received_objects bigint not null,
      head text, error text, attempts integer not null, created_at bigint not null, started_at bigint,
      finished_at bigint, lease_owner text, lease_until bigint)`,
    `create unique index one_queued_sync_per_branch on syncs (workspace_id, branch) where status = 'queued'`,
    `create unique index one_running_sync_per_branch on syncs (workspace_id, branch) where status = 'running'`,
    `create index unfinished_syncs on syncs (created_at) where finished_at is null`,
    `create index finished_syncs on syncs (finished_at)`,
    `create table locks (
      workspace_id text ${byteOrder} not null references workspaces (id), path text ${byteOrder} not null,
      id text not null, type text not null, token_id text not null, owner text not null, origin text,
      acquired_at bigint not null, expires_at bigint not null, fence bigint not null,
      primary key (workspace_id, path))`,
    `create index locks_by_expiry on locks (expires_at)`,
    `create table counters (name text primary key, value bigint not null)`,
    `insert into counters (name, value) values ('fence', 0)`,
    `create table hooks (
      id text primary key, workspace_id text ${byteOrder} not null references workspaces (id) on delete cascade,
      url text not null, events text not null, branches text, format text not null, secret text not null,
      headers text not null, active integer not null, created_at bigint not null, updated_at bigint not null,
      unique (workspace_id, url))`,
    `create table deliveries (
      sequence ${sequence}, id text not null unique, hook_id text not null references hooks (id) on delete cascade,
      ordering_key text not null, event text not null, attempts integer not null, next_attempt_at bigint,
      created_at bigint not null, lease_owner text, lease_until bigint)`,
    `create index next_deliveries on deliveries (hook_id, next_attempt_at, sequence) where next_attempt_at is not null`,
    `create table remembered_answers (
      token_id text not null, key text not null, fingerprint text not null, status integer not null,
      headers text not null, body text not null, created_at bigint not null, primary key (token_id, key))`,
    `create index remembered_answers_by_age on remembered_answers (created_at)`,
    `create table audit (
      sequence ${sequence}, at bigint not null, actor text not null, action text not null, detail text not null)`,
  ],
  ({ appendOnly }) => [
    'alter table tokens add column last_used_at bigint',
    `create table sessions (
      hash text primary key, token_id text not null references tokens (id) on delete cascade,
      created_at bigint not null, expires_at bigint not null)`,
    'create index sessions_by_end on sessions (expires_at)',
    `create table sign_in_links (
      hash text primary key, created_at bigint not null, expires_at bigint not null, used_at bigint)`,
    'alter table hooks add column inactive_why text',
    `update hooks set inactive_why = 'gone' where active = 0`,
    'create index syncs_of_workspace on syncs (workspace_id, created_at)',
    'alter table audit add column token_id text',
    'alter table audit add column address text',
    ...appendOnly('audit'),
  ],
  () => ['alter table hooks add column resumed_at bigint'],
  () => ['alter table syncs add column requested_by text'],
  () => ['create index deliveries_in_order on deliveries (hook_id, ordering_key, sequence)'],
  // Each workspace now has its own fences, which continue from the last fence of the service. This includes workspaces
  // that are added later, which may have the id of a removed one. Without the old table, an instance of an earlier
  // version that still runs cannot take locks, and so cannot issue a fence twice.
  // Idempotency keys are now per token and workspace. Stored responses about locks and syncs contain a URL with the
  // workspace, and those about hooks the id of a hook. The remaining few are about hooks that have been removed.
  ({ byteOrder, addressedWorkspace }) => [
    `create table fences (workspace_id text ${byteOrder} primary key, value bigint not null)`,
    `insert into fences (workspace_id, value) select '', value from counters where name = 'fence'`,
    'drop table counters',
    'alter table remembered_answers rename to answers_of_tokens',
    `create table remembered_answers (
      token_id text not null, workspace_id text ${byteOrder} not null, key text not null, fingerprint text not null,
      status integer not null, headers text not null, body text not null, created_at bigint not null,
      primary key (token_id, workspace_id, key))`,
    `insert into remembered_answers (token_id, workspace_id, key, fingerprint, status, headers, body, created_at)
      select token_id,
        coalesce(${addressedWorkspace('headers')},
          (select workspace_id from hooks where body like '{"id":"hook_%' and hooks.id = substr(body, 8, 41)), ''),
        key, fingerprint, status, headers, body, created_at from answers_of_tokens`,
    'drop table answers_of_tokens',
    'create index remembered_answers_by_age on remembered_answers (created_at)',
  ],
  ({ insertAtEnd }) => ['create index sessions_of_token on sessions (token_id, created_at)', ...insertAtEnd('audit')],
  () => [
    'create table quotas (name text primary key, value bigint not null)',
    `create table hook_backlogs (
      hook_id text primary key references hooks (id) on delete cascade, waiting bigint not null,
      dropped bigint not null)`,
  ],
  // Not unique: earlier locks may have paths that differ only in case. Without --windows-paths, the index is empty.
  ({ byteOrder }) => [
    `alter table locks add column folded_path text ${byteOrder}`,
    `create index locks_by_folded_path on locks (workspace_id, folded_path) where folded_path is not null`,
  ],
  // A covering index for the workspaces with expired locks.
  () => ['create index expiring_locks on locks (expires_at, workspace_id)', 'drop index locks_by_expiry'],
  // Git LFS identifies a lock by its id.
  () => [
    'alter table workspaces add column desk_ttl text',
    'alter table workspaces add column lfs_url text',
    'alter table locks add column desk_id text',
    'create index locks_by_id on locks (workspace_id, id)',
  ],
  // Nullable, so that an instance of an earlier version can run at the same time: its tokens have no owner of their
  // own, and when one of its locks replaces an expired one, the row keeps the note of the expired lock.
  () => [
    'alter table tokens add column owner text',
    'alter table tokens add column replaced_by text',
    'alter table locks add column note text',
    'alter table locks add column noted_lock_id text',
  ],
  // LFS objects of a sync. Syncs that an instance of an earlier version runs have none.
  () => [
    'alter table workspaces add column lfs_mode text',
    'alter table syncs add column received_bytes bigint not null default 0',
    'alter table syncs add column total_bytes bigint',
    'alter table syncs add column missing_objects bigint not null default 0',
    'alter table syncs add column missing text',
  ],
  // An instance of an earlier version writes no history. The key of a request is a hash, because a path and the URL of
  // a run can together exceed the size of an index entry in PostgreSQL.
  ({ byteOrder }) => [
    `create table lock_history (
      workspace_id text ${byteOrder} not null references workspaces (id) on delete cascade, at bigint not null,
      fence bigint not null, kind text not null, path text ${byteOrder} not null, lock_id text not null,
      owner text not null, origin text, note text, ended_by text,
      primary key (workspace_id, at, fence, kind))`,
    'create index lock_history_of_path on lock_history (workspace_id, path, at, fence, kind)',
    `create table refused_lock_requests (
      key text primary key, workspace_id text ${byteOrder} not null, path text ${byteOrder} not null, owner text not null,
      origin text, first_at bigint not null, last_at bigint not null)`,
    'create index refused_requests_of_path on refused_lock_requests (workspace_id, path)',
  ],
  ({ byteOrder }) => [
    'create table signing_keys (name text primary key, secret text not null)',
    'alter table workspaces add column lfs_limit bigint',
    `create table lfs_usage (
      workspace_id text ${byteOrder} primary key references workspaces (id) on delete cascade,
      objects bigint not null, bytes bigint not null, needed_bytes bigint)`,
  ],
  // For users who search for their own locks, in one workspace or in all, among the locks of pipelines.
  () => ['create index locks_by_owner on locks (owner, workspace_id, path)'],
  () => [
    `create table trust_rules (
      id text primary key, issuer text not null, owner text not null, claims text not null,
      scopes text not null, workspaces text, created_at bigint not null)`,
  ],
  // Tokens from token exchange. An instance of an earlier version lists them like any token. The last index finds the
  // runs that already have an audit entry.
  () => [
    'alter table tokens add column run_id text',
    'alter table tokens add column run_origin text',
    'alter table tokens add column trust_rules text',
    'alter table tokens add column identity text',
    'alter table tokens add column forget_at bigint',
    'create unique index tokens_by_identity on tokens (identity)',
    'create index tokens_to_forget on tokens (forget_at)',
    `create index audited_runs on audit (token_id) where action = 'token.exchanged'`,
  ],
  () => ['alter table hooks add column failing_since bigint', 'alter table hooks add column last_error text'],
  // An instance of an earlier version does not update it: its syncs change `synced_at`, which makes the value void.
  () => ['alter table synced_branches add column vanished_after bigint'],
  // For removing the stored responses of a workspace in batches.
  () => ['create index remembered_answers_of_workspace on remembered_answers (workspace_id, created_at)'],
  // Each filter of the audit finds its newest entries without reading other entries.
  () => [
    'create index audit_of_actor on audit (actor, sequence)',
    'create index audit_of_token on audit (token_id, sequence)',
    'create index audit_of_action on audit (action, sequence)',
  ],
  ({ removableAudit }) => removableAudit,
  ({ byteOrder }) => [
    'drop table refused_lock_requests',
    `create table lock_places (
      id text primary key, workspace_id text ${byteOrder} not null references workspaces (id) on delete cascade,
      token_id text not null, owner text not null, origin text, note text, urgency integer not null,
      since bigint not null, rank bigint not null, asked_at bigint not null, present_until bigint not null, ttl bigint)`,
    `create table lock_lines (
      workspace_id text ${byteOrder} not null, path text ${byteOrder} not null,
      place_id text not null references lock_places (id) on delete cascade, asked_path text not null,
      rank bigint not null, request_id text, primary key (workspace_id, path, place_id))`,
    'create index lines_in_order on lock_lines (workspace_id, path, rank, place_id)',
    'create index lines_of_place on lock_lines (place_id)',
    `create table pool_items (
      workspace_id text ${byteOrder} not null references workspaces (id) on delete cascade, pool text ${byteOrder} not null,
      position integer not null, path text ${byteOrder} not null, properties text not null, secrets text not null,
      primary key (workspace_id, pool, path))`,
  ],
  // An instance of an earlier version that replaces an expired lock keeps the values of the previous one.
  () => [
    'alter table workspaces add column latest text',
    'alter table workspaces add column latest_branches text',
    'alter table workspaces add column release_on text',
    'alter table workspaces add column push_locks text',
    'alter table workspaces add column push_secret text',
    'alter table locks add column branch text',
    'alter table locks add column merge_base text',
    'create index locks_without_base on locks (workspace_id) where merge_base = id',
  ],
  () => ['alter table hooks drop column inactive_why', 'alter table hooks drop column resumed_at'],
  ({ byteOrder }) => [
    'alter table locks add column lease_id text',
    'create index locks_of_lease on locks (workspace_id, lease_id) where lease_id is not null',
    `create table leases (
      workspace_id text ${byteOrder} not null references workspaces (id) on delete cascade, id text not null,
      token_id text not null, owner text not null, fingerprint text, pool text,
      state text not null, granted text, result text, expires_at bigint not null,
      primary key (workspace_id, id))`,
    'create index leases_by_end on leases (expires_at)',
    'delete from remembered_answers',
    'alter table remembered_answers drop column status',
    'alter table remembered_answers drop column headers',
    'alter table remembered_answers drop column body',
    `alter table remembered_answers add column result text not null default ''`,
    'drop table lock_lines',
    'drop table lock_places',
    `create table waits (
      id text primary key, workspace_id text ${byteOrder} not null references workspaces (id) on delete cascade,
      kind text not null, token_id text not null, owner text not null, origin text, note text, urgency integer not null,
      since bigint not null, rank bigint not null, asked_at bigint not null, present_until bigint not null,
      size integer not null, wanted integer not null, request_id text not null, told_at bigint, fingerprint text)`,
    'create index waits_of_token on waits (token_id)',
    'create index waits_of_workspace on waits (workspace_id)',
    `create index untold_asks on waits (id) where kind = 'ask' and told_at is null`,
    `create table wait_paths (
      workspace_id text ${byteOrder} not null, path text ${byteOrder} not null,
      wait_id text not null references waits (id) on delete cascade, asked_path text ${byteOrder} not null,
      position integer not null, rank bigint not null, is_set integer not null, primary key (wait_id, path))`,
    'create index waits_in_order on wait_paths (workspace_id, path, is_set, rank, wait_id)',
    `create table lock_requests (
      workspace_id text ${byteOrder} not null references workspaces (id) on delete cascade, path text ${byteOrder} not null,
      owner text not null, at bigint not null, primary key (workspace_id, path, owner))`,
  ],
];

/** Number of the schema of this version. */
export const schemaVersion = migrations.length;
