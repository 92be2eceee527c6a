import type { Dialect } from './storage.ts';

/** Parts of SQL that differ between the two databases. Both compare ids and paths byte by byte. */
interface Words {
  readonly byteOrder: string;
  readonly sequence: string;
}

const words: Readonly<Record<Dialect, Words>> = {
  sqlite: { byteOrder: '', sequence: 'integer primary key autoincrement' },
  postgres: { byteOrder: 'collate "C"', sequence: 'bigint generated always as identity primary key' },
};

/** The columns are described in tables.ts. */
export const initialSchema = (dialect: Dialect): readonly string[] => [
  ...[tokens, workspaces, syncs, locks, history, leases, waits, pools, webhooks, answers, audit].flatMap((subject) =>
    subject(words[dialect]),
  ),
  ...auditTriggers[dialect],
];

const tokens = (): readonly string[] => [
  `create table tokens (
    id text primary key, name text not null, owner text not null, hash text not null unique, scopes text not null,
    workspaces text, replaced_by text, created_at bigint not null, expires_at bigint, revoked_at bigint,
    last_used_at bigint, run_id text, run_origin text, trust_rules text, identity text, forget_at bigint)`,
  'create unique index tokens_by_identity on tokens (identity)',
  'create index tokens_to_forget on tokens (forget_at)',
  `create table trust_rules (
    id text primary key, issuer text not null, owner text not null, claims text not null, scopes text not null,
    workspaces text, created_at bigint not null)`,
  `create table sessions (
    hash text primary key, token_id text not null references tokens (id) on delete cascade,
    created_at bigint not null, expires_at bigint not null)`,
  'create index sessions_by_end on sessions (expires_at)',
  'create index sessions_of_token on sessions (token_id, created_at)',
  `create table sign_in_links (
    hash text primary key, created_at bigint not null, expires_at bigint not null, used_at bigint)`,
  'create table signing_keys (name text primary key, secret text not null)',
];

const workspaces = ({ byteOrder }: Words): readonly string[] => [
  `create table workspaces (
    id text ${byteOrder} primary key, remote text not null, default_branch text, created_at bigint not null, desk_ttl text,
    lfs_url text, lfs_mode text, latest text, latest_branches text,
    push_locks text, push_secret text, lock_delay_ms bigint)`,
  'create table quotas (name text primary key, value bigint not null)',
];

const syncs = ({ byteOrder }: Words): readonly string[] => [
  `create table synced_branches (
    workspace_id text ${byteOrder} not null references workspaces (id) on delete cascade, name text not null,
    head text not null, synced_at bigint not null, received_objects bigint not null,
    primary key (workspace_id, name))`,
  `create table syncs (
    id text primary key, workspace_id text ${byteOrder} not null references workspaces (id) on delete cascade,
    branch text not null, requested_by text not null, status text not null, estimated_objects bigint not null,
    received_objects bigint not null, received_bytes bigint not null default 0, total_bytes bigint,
    missing_objects bigint not null default 0, missing text, head text, error text, attempts integer not null,
    created_at bigint not null, started_at bigint, finished_at bigint, lease_owner text, lease_until bigint)`,
  `create unique index one_queued_sync_per_branch on syncs (workspace_id, branch) where status = 'queued'`,
  `create unique index one_running_sync_per_branch on syncs (workspace_id, branch) where status = 'running'`,
  'create index unfinished_syncs on syncs (created_at) where finished_at is null',
  'create index finished_syncs on syncs (finished_at)',
  'create index syncs_of_workspace on syncs (workspace_id, created_at)',
];

const locks = ({ byteOrder }: Words): readonly string[] => [
  `create table locks (
    workspace_id text ${byteOrder} not null references workspaces (id), path text ${byteOrder} not null,
    folded_path text ${byteOrder}, id text not null, type text not null, token_id text not null,
    owner text not null, origin text, note text, from_lfs integer not null default 0, branch text,
    lease_id text, acquired_at bigint not null,
    expires_at bigint not null, delay_ms bigint not null default 0, fence bigint not null,
    primary key (workspace_id, path))`,
  // Not first the workspace: the databases would prefer it to the indexes by path and owner.
  'create index expiring_locks on locks (expires_at, workspace_id)',
  'create index locks_by_id on locks (workspace_id, id)',
  'create index locks_by_owner on locks (owner, workspace_id, path)',
  // Not unique: without --windows-paths, locks may have paths that differ only in case.
  `create index locks_by_folded_path on locks (workspace_id, folded_path) where folded_path is not null`,
  'create index locks_of_lease on locks (workspace_id, lease_id) where lease_id is not null',
  `create table fences (workspace_id text ${byteOrder} primary key, value bigint not null)`,
  `insert into fences (workspace_id, value) values ('', 0)`,
];

const history = ({ byteOrder }: Words): readonly string[] => [
  `create table lock_history (
    workspace_id text ${byteOrder} not null references workspaces (id) on delete cascade, ended_at bigint not null,
    fence bigint not null, kind text not null, path text ${byteOrder} not null, lock_id text not null,
    owner text not null, origin text, note text, acquired_at bigint not null, lease_id text, ended_by text,
    primary key (workspace_id, ended_at, fence))`,
  'create index lock_history_of_path on lock_history (workspace_id, path, ended_at, fence)',
  'create index lock_history_of_lease on lock_history (workspace_id, lease_id) where lease_id is not null',
];

const leases = ({ byteOrder }: Words): readonly string[] => [
  `create table leases (
    workspace_id text ${byteOrder} not null references workspaces (id) on delete cascade, id text not null,
    owner text not null, fingerprint text, pool text, state text not null, expires_at bigint not null,
    primary key (workspace_id, id))`,
  'create index leases_by_end on leases (expires_at)',
];

const waits = ({ byteOrder }: Words): readonly string[] => [
  `create table waits (
    id text primary key, workspace_id text ${byteOrder} not null references workspaces (id) on delete cascade,
    kind text not null, token_id text not null, owner text not null, origin text, note text,
    urgency integer not null, since bigint not null, rank bigint not null, asked_at bigint not null,
    present_until bigint not null, size integer not null, wanted integer not null, request_id text not null,
    told_at bigint, fingerprint text)`,
  'create index waits_of_token on waits (token_id)',
  'create index waits_of_workspace on waits (workspace_id)',
  `create index untold_asks on waits (id) where kind = 'ask' and told_at is null`,
  `create table wait_paths (
    workspace_id text ${byteOrder} not null, path text ${byteOrder} not null,
    wait_id text not null references waits (id) on delete cascade, asked_path text ${byteOrder} not null,
    position integer not null, rank bigint not null, is_set integer not null,
    primary key (wait_id, path))`,
  'create index waits_in_order on wait_paths (workspace_id, path, is_set, rank, wait_id)',
  `create table lock_requests (
    workspace_id text ${byteOrder} not null references workspaces (id) on delete cascade,
    path text ${byteOrder} not null, owner text not null, at bigint not null,
    primary key (workspace_id, path, owner))`,
];

const pools = ({ byteOrder }: Words): readonly string[] => [
  `create table pool_items (
    workspace_id text ${byteOrder} not null references workspaces (id) on delete cascade,
    pool text ${byteOrder} not null, position integer not null, path text ${byteOrder} not null,
    properties text not null, secrets text not null,
    primary key (workspace_id, pool, path))`,
];

const webhooks = ({ byteOrder, sequence }: Words): readonly string[] => [
  `create table hooks (
    id text primary key, workspace_id text ${byteOrder} not null references workspaces (id) on delete cascade,
    url text not null, events text not null, branches text, format text not null, secret text not null,
    headers text not null, active integer not null, failing_since bigint, last_error text,
    created_at bigint not null, updated_at bigint not null,
    unique (workspace_id, url))`,
  `create table hook_backlogs (
    hook_id text primary key references hooks (id) on delete cascade, waiting bigint not null,
    dropped bigint not null)`,
  `create table deliveries (
    sequence ${sequence}, id text not null unique, hook_id text not null references hooks (id) on delete cascade,
    ordering_key text not null, event text not null, attempts integer not null, next_attempt_at bigint,
    created_at bigint not null, lease_owner text, lease_until bigint)`,
  `create index next_deliveries on deliveries (hook_id, next_attempt_at, sequence) where next_attempt_at is not null`,
  'create index deliveries_in_order on deliveries (hook_id, ordering_key, sequence)',
];

const answers = ({ byteOrder }: Words): readonly string[] => [
  `create table remembered_answers (
    token_id text not null, workspace_id text ${byteOrder} not null, key text not null, fingerprint text not null,
    result text not null, created_at bigint not null,
    primary key (token_id, workspace_id, key))`,
  'create index remembered_answers_by_age on remembered_answers (created_at)',
  // For removing the stored results of a workspace in batches.
  'create index remembered_answers_of_workspace on remembered_answers (workspace_id, created_at)',
];

const audit = ({ sequence }: Words): readonly string[] => [
  `create table audit (
    sequence ${sequence}, at bigint not null, actor text not null, token_id text, address text,
    action text not null, detail text not null)`,
  // Finds the runs that already have an entry.
  `create index audited_runs on audit (token_id) where action = 'token.exchanged'`,
];

const onlyGrows = 'The audit only grows.';

/** Maintenance may remove entries older than the retention that it has applied. */
const removableBefore = `coalesce((select value from quotas where name = 'auditRemovableBefore'), 0)`;

/** Reject changes and the removal of audit entries, and new ones that are not at the end. */
const auditTriggers: Readonly<Record<Dialect, readonly string[]>> = {
  sqlite: [
    refusal('update', 'before update on audit'),
    refusal('delete', `before delete on audit when old.at >= ${removableBefore}`),
    // REPLACE removes the conflicting row without a delete trigger (https://www.sqlite.org/lang_conflict.html).
    refusal('replace', 'before insert on audit when exists (select 1 from audit where sequence = new.sequence)'),
    refusal(
      'insert_between',
      'after insert on audit when new.sequence < 1 or new.sequence < (select max(sequence) from audit)',
    ),
  ],
  // A conflicting insert is an update here, which is rejected, and the database generates the sequence.
  postgres: [
    `create function audit_refuses() returns trigger language plpgsql as $$ begin raise exception '${onlyGrows}'; end $$`,
    'create trigger audit_only_grows before update or truncate on audit for each statement execute function audit_refuses()',
    `create function audit_keeps() returns trigger language plpgsql as $$ begin
      if old.at >= ${removableBefore} then raise exception '${onlyGrows}'; end if;
      return old;
    end $$`,
    'create trigger audit_refuses_delete before delete on audit for each row execute function audit_keeps()',
  ],
};

function refusal(name: string, when: string): string {
  return `create trigger audit_refuses_${name} ${when} begin select raise(abort, '${onlyGrows}'); end`;
}
