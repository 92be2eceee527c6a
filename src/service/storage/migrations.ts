import { type Kysely, sql } from 'kysely';
import type { Dialect } from './storage.ts';
import type { Tables } from './tables.ts';

interface Spelling {
  readonly byteOrder: string;
  readonly sequence: string;
  /** The workspace in the first address `…/workspaces/ID/…` of a text; null without one. */
  readonly addressedWorkspace: (text: string) => string;
  /** Refuses every change of what a table has. */
  readonly appendOnly: (table: string) => readonly string[];
  /** Refuses to remove entries of the audit, except those older than the retention that maintenance has applied. */
  readonly removableAudit: readonly string[];
  /** Refuses rows that take the place of another, or go in between. */
  readonly insertAtEnd: (table: string) => readonly string[];
}

/** Each is applied once, in this order, and never changed after a release: a change is a new one at the end. */
const migrations: readonly ((words: Spelling) => readonly string[])[] = [
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
      ordering_key text not null, event text not null, status text not null, attempts integer not null,
      next_attempt_at bigint, last_error text, created_at bigint not null, finished_at bigint,
      lease_owner text, lease_until bigint)`,
    `create index next_deliveries on deliveries (hook_id, next_attempt_at, sequence) where next_attempt_at is not null`,
    `create index unfinished_deliveries on deliveries (hook_id, ordering_key, sequence) where finished_at is null`,
    `create index finished_deliveries on deliveries (finished_at)`,
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
    'alter table deliveries add column last_attempt_at bigint',
    'alter table deliveries add column last_duration_ms bigint',
    'alter table deliveries add column last_answer text',
    'create index deliveries_of_hook on deliveries (hook_id, sequence)',
    'create index syncs_of_workspace on syncs (workspace_id, created_at)',
    'alter table audit add column token_id text',
    'alter table audit add column address text',
    ...appendOnly('audit'),
  ],
  () => ['alter table hooks add column resumed_at bigint'],
  () => ['alter table syncs add column requested_by text'],
  // A page of webhooks looks for the few that are not over, or had trouble, among all that were delivered in a week.
  () => [
    'create index open_deliveries on deliveries (hook_id, sequence) where finished_at is null',
    'create index troubled_deliveries on deliveries (hook_id, sequence) where last_error is not null',
  ],
  // Each workspace counts its fences by itself, on from the last that was given out anywhere, and so does one that is
  // added later: it may have the id of one that was removed. Without the old table, an instance of an earlier version
  // that still runs can take no lock, and so cannot give out a fence again.
  // Keys are of a token and a workspace. The answers about locks and syncs have an address, those about hooks a hook; the
  // few that are left are of what has been removed since.
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
      dropped bigint not null, first_dropped_at bigint, last_dropped_at bigint)`,
    `insert into hook_backlogs (hook_id, waiting, dropped)
      select hook_id, count(*), 0 from deliveries where finished_at is null group by hook_id`,
  ],
  // Not unique: paths that differ by case may be locked from before. Without --windows-paths the index has no entries.
  ({ byteOrder }) => [
    `alter table locks add column folded_path text ${byteOrder}`,
    `create index locks_by_folded_path on locks (workspace_id, folded_path) where folded_path is not null`,
  ],
  // The index alone has the workspaces with expired locks.
  () => ['create index expiring_locks on locks (expires_at, workspace_id)', 'drop index locks_by_expiry'],
  // Git LFS names a lock by its id.
  () => [
    'alter table workspaces add column desk_ttl text',
    'alter table workspaces add column lfs_url text',
    'alter table locks add column desk_id text',
    'create index locks_by_id on locks (workspace_id, id)',
  ],
  // Null where unset, so that an instance of an earlier version works beside this one: its locks have no owner of their
  // own, and after it has granted an expired lock again, the old note belongs to another lock.
  () => [
    'alter table tokens add column owner text',
    'alter table tokens add column replaced_by text',
    'alter table locks add column note text',
    'alter table locks add column noted_lock_id text',
  ],
  // LFS objects of a sync. What an instance of an earlier version runs has none.
  () => [
    'alter table workspaces add column lfs_mode text',
    'alter table syncs add column received_bytes bigint not null default 0',
    'alter table syncs add column total_bytes bigint',
    'alter table syncs add column missing_objects bigint not null default 0',
    'alter table syncs add column missing text',
  ],
  // What an instance of an earlier version does to locks has no history. The key of a request is a hash: PostgreSQL has no
  // index entries as long as a path and the address of a run can be together.
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
  // People look for their own locks, in one workspace or in all, among those of pipelines.
  () => ['create index locks_by_owner on locks (owner, workspace_id, path)'],
  () => [
    `create table trust_rules (
      id text primary key, issuer text not null, owner text not null, claims text not null, workflow text,
      repository text, scopes text not null, workspaces text, created_at bigint not null)`,
  ],
  // Tokens from exchanged identities. An instance of an earlier version lists them like any token. The audit shows which
  // runs already have an entry.
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
  // An instance of an earlier version leaves it as it is: the next attempt that this version makes puts it right.
  () => ['alter table hooks add column failing_since bigint'],
  // An instance of an earlier version leaves it as it is: the next sync of the branch changes `synced_at`, which voids it.
  () => ['alter table synced_branches add column vanished_after bigint'],
  // To remove those of a workspace in pieces.
  () => ['create index remembered_answers_of_workspace on remembered_answers (workspace_id, created_at)'],
  // Each filter of the audit finds its newest entries without reading the others.
  () => [
    'create index audit_of_actor on audit (actor, sequence)',
    'create index audit_of_token on audit (token_id, sequence)',
    'create index audit_of_action on audit (action, sequence)',
  ],
  ({ removableAudit }) => removableAudit,
];

/** The schema of this version. */
export const schemaVersion = migrations.length;

const onlyGrows = 'The audit only grows.';
const removableBefore = `coalesce((select value from quotas where name = 'auditRemovableBefore'), 0)`;

/** SQL that differs between the two databases. Both compare paths byte by byte. */
const spelling: Readonly<Record<Dialect, Spelling>> = {
  sqlite: {
    byteOrder: '',
    sequence: 'integer primary key autoincrement',
    addressedWorkspace(text) {
      const prefix = '/workspaces/';
      const rest = `substr(${text}, instr(${text}, '${prefix}') + ${prefix.length})`;
      return `case when instr(${text}, '${prefix}') > 0 then substr(${rest}, 1, instr(${rest}, '/') - 1) end`;
    },
    appendOnly: (table) =>
      ['update', 'delete'].map(
        (change) =>
          `create trigger ${table}_refuses_${change} before ${change} on ${table} begin select raise(abort, '${onlyGrows}'); end`,
      ),
    removableAudit: [
      'drop trigger audit_refuses_delete',
      `create trigger audit_refuses_delete before delete on audit when old.at >= ${removableBefore} begin select raise(abort, '${onlyGrows}'); end`,
    ],
    // REPLACE removes the row that is in the way without a trigger for it (https://www.sqlite.org/lang_conflict.html).
    insertAtEnd: (table) => [
      `create trigger ${table}_refuses_replace before insert on ${table} when exists (select 1 from ${table} where sequence = new.sequence) begin select raise(abort, '${onlyGrows}'); end`,
      `create trigger ${table}_refuses_insert_between after insert on ${table} when new.sequence < 1 or new.sequence < (select max(sequence) from ${table}) begin select raise(abort, '${onlyGrows}'); end`,
    ],
  },
  postgres: {
    byteOrder: 'collate "C"',
    sequence: 'bigint generated always as identity primary key',
    addressedWorkspace: (text) => `substring(${text} from '/workspaces/([^/]+)/')`,
    appendOnly: (table) => [
      `create function ${table}_refuses() returns trigger language plpgsql as $$ begin raise exception '${onlyGrows}'; end $$`,
      `create trigger ${table}_only_grows before update or delete or truncate on ${table} for each statement execute function ${table}_refuses()`,
    ],
    removableAudit: [
      'drop trigger audit_only_grows on audit',
      'create trigger audit_only_grows before update or truncate on audit for each statement execute function audit_refuses()',
      `create function audit_keeps() returns trigger language plpgsql as $$ begin
        if old.at >= ${removableBefore} then raise exception '${onlyGrows}'; end if;
        return old;
      end $$`,
      'create trigger audit_refuses_delete before delete on audit for each row execute function audit_keeps()',
    ],
    // An insert that meets a row is an update there, and so refused; the sequence is the database's own.
    insertAtEnd: () => [],
  },
};

/** The message is a sentence for a person. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';
}

/** A change of an existing database, which earlier versions refuse since. */
export interface Migration {
  readonly from: number;
  readonly to: number;
  readonly durationMs: number;
}

/**
 * Brings the tables to this version, or to an earlier one, for tests of what older databases become. Has to run in a
 * transaction that excludes all other writers.
 */
export async function migrate(
  db: Kysely<Tables>,
  dialect: Dialect,
  to = migrations.length,
): Promise<Migration | undefined> {
  const startedAt = performance.now();
  await sql`create table if not exists schema_version (version integer not null)`.execute(db);
  const { rows } = await sql<{ version: number }>`select version from schema_version`.execute(db);
  const version = rows[0]?.version ?? 0;
  if (version > migrations.length) {
    throw new NewerSchemaError(
      `The database was made by a newer version of the service (its schema is ${version}, this version knows ${migrations.length}). Start that version, or restore a backup.`,
    );
  }
  if (version === to) return undefined;
  for (const migration of migrations.slice(version, to)) {
    for (const statement of migration(spelling[dialect])) await sql.raw(statement).execute(db);
  }
  await sql`delete from schema_version`.execute(db);
  await sql`insert into schema_version (version) values (${sql.lit(to)})`.execute(db);
  if (version === 0) return undefined;
  return { from: version, to, durationMs: Math.round(performance.now() - startedAt) };
}
