import {
  type CompiledQuery,
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { scopes } from '../../src/interface/scopes.ts';
import { groupCommits } from '../../src/service/storage/commit-group.ts';
import type { Storage } from '../../src/service/storage/storage.ts';
import type { Tables } from '../../src/service/storage/tables.ts';
import { newTokenSecret, secretHash } from '../../src/service/tokens/secret.ts';

type Row = Readonly<Record<string, unknown>>;

/** The list that a query is about: batchQuery() makes it a parameter. */
function membersOf({ parameters }: CompiledQuery): readonly Row[] {
  const list = parameters.find((parameter) => typeof parameter === 'string' && parameter.startsWith('{'));
  // batchQuery() has written it.
  return list === undefined ? [] : Object.values(JSON.parse(String(list)) as Record<string, Row>);
}

function insertedLocks(query: CompiledQuery): Row[] {
  const now = Date.now();
  const times = { acquired_at: now, expires_at: now + 3_600_000 };
  return membersOf(query).map(({ workspace, ttl, ...lock }) => ({ workspace_id: workspace, ...lock, ...times }));
}

/**
 * A storage that answers at once what the route for taking a lock needs to hear, and keeps nothing. Queries are built
 * and compiled as ever: what is left out is the database, its driver and the disk. A service on it shows how much of
 * the time of a request is not theirs. Changes wait for each other as they do for a database. It knows one workspace and
 * one token, whatever it is told.
 */
export function withoutDatabase() {
  const token = newTokenSecret();
  const workspace = 'sample';
  const tokenRow: Row = {
    id: 'tok_bench',
    name: 'bench',
    hash: secretHash(token),
    scopes: JSON.stringify(scopes),
    workspaces: null,
    created_at: 0,
    expires_at: null,
    revoked_at: null,
    now: 0,
  };

  function rowsOf(query: CompiledQuery): Row[] {
    if (query.sql.includes('join "tokens"')) return membersOf(query).map((_, place) => ({ ...tokenRow, place }));
    if (query.sql.includes('join "workspaces"')) {
      return membersOf(query).map((_, place) => ({ id: workspace, remote: 'file:///nowhere', place }));
    }
    if (query.sql.startsWith('insert into "locks"')) return insertedLocks(query);
    if (query.sql.startsWith('insert into "fences"')) {
      return membersOf(query).map(({ workspace, count }) => ({ workspace_id: workspace, value: count }));
    }
    return [];
  }

  const connection: DatabaseConnection = {
    // Kysely asks for rows of the type that the query says, which only a database can promise.
    executeQuery: async <R>(query: CompiledQuery): Promise<QueryResult<R>> => ({ rows: rowsOf(query) as R[] }),
    streamQuery() {
      throw new Error('Nothing here streams.');
    },
  };
  const db = new Kysely<Tables>({
    dialect: {
      createDriver: () => Object.assign(new DummyDriver(), { acquireConnection: async () => connection }),
      createAdapter: () => new SqliteAdapter(),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createIntrospector: (db) => new SqliteIntrospector(db),
    },
  });
  const storage: Storage = {
    dialect: 'sqlite',
    read: db,
    now: sql<number>`cast(round(unixepoch('subsec') * 1000) as integer)`,
    ...groupCommits(db, { queueOf: () => '', maxParallel: 1, begin: async () => undefined, onCommit: () => undefined }),
    claim: (work) => work(db),
    broadcast: { send: async () => undefined, listen: () => () => undefined },
    close: () => db.destroy(),
  };
  return { storage, token, workspace };
}
