import { type Selectable, sql } from 'kysely';
import type { Database, Storage } from '../../../src/service/storage/storage.ts';
import type { Tables } from '../../../src/service/storage/tables.ts';

type Rows = { readonly [T in keyof Tables]: readonly Selectable<Tables[T]>[] };

const awkward = 'a "quoted"\n\\ line\u2028 ヒーロー 🦊 é';
const largest = Number.MAX_SAFE_INTEGER;

const history = {
  workspace_id: 'game',
  ended_at: 5,
  kind: 'released',
  lock_id: 'lock_1',
  owner: 'ada',
  acquired_at: 4,
};

/**
 * Rows of every table, with a value in each column, and null in each nullable one. The history has more than one page,
 * and its keys share a prefix; the paths sort differently by the rules of a language.
 */
export const everyTable: Rows = {
  workspaces: [
    {
      id: 'game',
      remote: awkward,
      default_branch: 'main',
      created_at: 1,
      desk_ttl: '8h',
      lfs_url: 'u',
      lfs_mode: 'm',
      latest: 'warn',
      latest_branches: '["main"]',
      push_locks: 'branch',
      push_secret: 's',
      lock_delay_ms: 15_000,
    },
    {
      id: 'b',
      remote: '',
      default_branch: null,
      created_at: 0,
      desk_ttl: null,
      lfs_url: null,
      lfs_mode: null,
      latest: null,
      latest_branches: null,
      push_locks: null,
      push_secret: null,
      lock_delay_ms: null,
    },
  ],
  tokens: [
    {
      id: 'tok_1',
      name: awkward,
      owner: 'ada',
      replaced_by: 'tok_2',
      hash: 'h1',
      scopes: '["sync"]',
      workspaces: '["game"]',
      created_at: 1,
      expires_at: 2,
      revoked_at: 3,
      last_used_at: 4,
      run_id: 'run_1',
      run_origin: 'https://github.com/octo/game/actions/runs/1',
      trust_rules: '["rule_1"]',
      identity: 'i',
      forget_at: 5,
    },
    {
      id: 'tok_2',
      name: 'n',
      owner: 'n',
      replaced_by: null,
      hash: 'h2',
      scopes: '[]',
      workspaces: null,
      created_at: 1,
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
      run_id: null,
      run_origin: null,
      trust_rules: null,
      identity: null,
      forget_at: null,
    },
  ],
  trust_rules: [
    {
      id: 'rule_1',
      issuer: 'https://gitlab.com',
      owner: 'bot',
      claims: '{"sub":"x"}',
      scopes: '[]',
      workspaces: '["game"]',
      created_at: 1,
    },
  ],
  sessions: [{ hash: 's', token_id: 'tok_1', created_at: 1, expires_at: largest }],
  sign_in_links: [
    { hash: 'l1', created_at: 1, expires_at: 9, used_at: null },
    { hash: 'l2', created_at: 1, expires_at: 9, used_at: 2 },
  ],
  fences: [
    { workspace_id: '', value: 3 },
    { workspace_id: 'game', value: 4_503_599_627_370_496 },
  ],
  quotas: [{ name: 'max-locks', value: 7 }],
  signing_keys: [{ name: 'lfs', secret: 'c2VjcmV0' }],
  locks: ['a', 'B', '_', 'é', 'Z/ヒ'].map((path, index) => ({
    workspace_id: 'game',
    path,
    id: `lock_${index}`,
    type: 'exclusive',
    token_id: 'tok_1',
    owner: 'ada',
    origin: index === 0 ? null : awkward,
    note: index === 0 ? null : awkward,
    acquired_at: 1,
    expires_at: index === 0 ? 2 : 8_000_000_000_000,
    delay_ms: index,
    fence: 100 + index,
    folded_path: index === 0 ? null : path.toLowerCase(),
    from_lfs: index === 0 ? 0 : 1,
    branch: index === 0 ? null : 'main',
    lease_id: index === 0 ? null : 'lease_1',
  })),
  lock_history: Array.from({ length: 450 }, (_, fence) => ({
    ...history,
    fence,
    path: `p${fence}`,
    origin: fence === 0 ? null : 'o',
    note: fence === 0 ? null : awkward,
    lease_id: fence === 0 ? null : 'lease_1',
    ended_by: fence === 0 ? null : 'ada',
  })),
  leases: [
    {
      workspace_id: 'game',
      id: 'lease_1',
      owner: 'ada',
      fingerprint: 'f',
      pool: 'seats',
      state: 'held',
      expires_at: 2,
    },
    {
      workspace_id: 'game',
      id: 'lease_2',
      owner: 'ada',
      fingerprint: null,
      pool: null,
      state: 'ended',
      expires_at: 2,
    },
  ],
  waits: [
    {
      id: 'wait_1',
      workspace_id: 'game',
      kind: 'lease',
      token_id: 't',
      owner: 'o',
      origin: null,
      note: awkward,
      urgency: 3,
      since: 1,
      rank: 1,
      asked_at: 2,
      present_until: 3,
      size: 2,
      wanted: 1,
      request_id: 'r',
      told_at: null,
      fingerprint: 'f',
    },
  ],
  wait_paths: [
    { workspace_id: 'game', path: 'p', wait_id: 'wait_1', asked_path: 'P', position: 0, rank: 1, is_set: 1 },
  ],
  lock_requests: [{ workspace_id: 'game', path: 'p', owner: 'o', at: 1 }],
  pool_items: [
    { workspace_id: 'game', pool: 'seats', position: 0, path: 'a', properties: '{"host":"b1"}', secrets: '[]' },
  ],
  synced_branches: [{ workspace_id: 'game', name: 'main', head: 'c0ffee', synced_at: 1, received_objects: 2 }],
  syncs: [
    {
      id: 'sync_1',
      workspace_id: 'game',
      branch: 'main',
      status: 'running',
      estimated_objects: 1,
      received_objects: 2,
      head: 'c0ffee',
      error: awkward,
      attempts: 1,
      created_at: 1,
      started_at: 2,
      finished_at: null,
      lease_owner: 'me',
      lease_until: 3,
      requested_by: 'ci',
      received_bytes: largest,
      total_bytes: null,
      missing_objects: 1,
      missing: '[]',
    },
  ],
  hooks: [
    {
      id: 'hook_1',
      workspace_id: 'game',
      url: 'https://ci.example.com',
      events: '[]',
      branches: null,
      format: 'standard',
      secret: 'whsec_x',
      headers: '{}',
      active: 0,
      failing_since: 2,
      last_error: awkward,
      created_at: 1,
      updated_at: 1,
    },
  ],
  hook_backlogs: [{ hook_id: 'hook_1', waiting: 1, dropped: 2 }],
  deliveries: [2, 40].map((sequence) => ({
    sequence,
    id: `delivery_${sequence}`,
    hook_id: 'hook_1',
    ordering_key: 'k',
    event: awkward,
    attempts: 1,
    next_attempt_at: 1,
    created_at: 1,
    lease_owner: null,
    lease_until: null,
  })),
  remembered_answers: [
    {
      token_id: 'tok_1',
      workspace_id: '',
      key: awkward,
      fingerprint: 'f',
      result: awkward,
      created_at: 1,
    },
  ],
  audit: [3, 70].map((sequence) => ({
    sequence,
    at: 1,
    actor: awkward,
    token_id: null,
    address: '127.0.0.1',
    action: 'token.created',
    detail: '{}',
  })),
};

const tables = Object.keys(everyTable) as readonly (keyof Tables)[];

async function insertAll(db: Database, { dialect }: Storage): Promise<void> {
  await db.deleteFrom('fences').execute();
  const overriding = dialect === 'postgres' ? sql`overriding system value` : sql``;
  for (const table of tables) {
    for (const row of everyTable[table]) {
      const [names, values] = [Object.keys(row).map((name) => sql.ref(name)), Object.values(row)];
      await sql`insert into ${sql.table(table)} (${sql.join(names)}) ${overriding} values (${sql.join(values)})`.execute(
        db,
      );
    }
  }
}

/** Stores the rows in an empty database. */
export const storeEveryTable = (storage: Storage): Promise<void> =>
  storage.commit('global', (db) => insertAll(db, storage));

/** All rows of a database, each table in its own order. Reads one after the other, so that one connection is enough. */
export async function rowsOf({ read }: Storage): Promise<Record<keyof Tables, readonly unknown[]>> {
  const all: Partial<Record<keyof Tables, readonly unknown[]>> = {};
  for (const table of tables) {
    const rows = await read.selectFrom(table).selectAll().execute();
    const sorted = rows.map((row) => ({ row, text: JSON.stringify(Object.entries(row).toSorted()) }));
    all[table] = sorted.toSorted((a, b) => (a.text < b.text ? -1 : 1)).map(({ row }) => row);
  }
  // None is missing: these are the required names of `everyTable`.
  return all as Record<keyof Tables, readonly unknown[]>;
}
