import {
  type CompiledQuery,
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  type QueryResult,
  SqliteDialect,
  sql,
} from 'kysely';
import { scopes } from '../../src/interface/scopes.ts';
import { createLog } from '../../src/service/cli/serve/log.ts';
import { groupCommits } from '../../src/service/storage/commit-group.ts';
import type { Storage } from '../../src/service/storage/storage.ts';
import type { Tables } from '../../src/service/storage/tables.ts';
import { newTokenSecret, secretHash } from '../../src/service/tokens/secret.ts';
import { startTestService } from '../../test/support/running-service.ts';
import { openStorage } from './seed.ts';
import type { Kind } from './service-process.ts';

/** The service as `serve --dev --json --rate-limit 0` composes it, on storages that `serve` does not offer. */

/**
 * The storage of the service without what makes it quick: no change waits until the one before it is on disk, and so
 * none shares a transaction. Everything else, the flush to disk before the answer too, is as it was. Nothing in src/
 * knows of it, so no setting of the service leads here.
 */
export function oneCommitPerChange(storage: Storage): Storage {
  let last: Promise<unknown> = Promise.resolve();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  }

  return {
    ...storage,
    commit: (scope, change) => inTurn(() => storage.commit(scope, change)),
    batchCommits(scopeOf, make) {
      const commit = storage.batchCommits(scopeOf, make);
      return (change) => inTurn(() => commit(change));
    },
    // On SQLite a claim would share the transaction of a change.
    claim: storage.dialect === 'sqlite' ? (work) => inTurn(() => storage.claim(work)) : storage.claim,
  };
}

type Row = Readonly<Record<string, unknown>>;

/** The list that a query is about: batchQuery() makes it a parameter. Others are about one thing. */
function membersOf({ parameters }: CompiledQuery): readonly Row[] {
  const list = parameters.find((parameter) => typeof parameter === 'string' && parameter.startsWith('{'));
  // batchQuery() has written it.
  return list === undefined ? [{}] : Object.values(JSON.parse(String(list)) as Record<string, Row>);
}

const onlyToken = newTokenSecret();
const onlyWorkspace = 'sample';

const tokenRow: Row = {
  id: 'tok_bench',
  name: 'bench',
  hash: secretHash(onlyToken),
  scopes: JSON.stringify(scopes),
  workspaces: null,
  created_at: 0,
  expires_at: null,
  revoked_at: null,
  now: 0,
};

/** What each query of the start, and about taking a lock, needs to hear, by what is in it. */
const answers: readonly (readonly [part: string, row: (member: Row, place: number) => Row])[] = [
  ['join "tokens"', (_, place) => ({ ...tokenRow, place })],
  ['join "workspaces"', (_, place) => ({ id: onlyWorkspace, remote: 'file:///nowhere', place })],
  [
    'insert into "locks"',
    ({ workspace, ttl, ...lock }) => {
      const now = Date.now();
      return { workspace_id: workspace, ...lock, acquired_at: now, expires_at: now + 3_600_000 };
    },
  ],
  ['from "signing_keys"', () => ({ secret: 'bench' })],
  ['insert into "fences"', ({ workspace, count }) => ({ workspace_id: workspace, value: count })],
];

/**
 * A storage that answers at once what the route for taking a lock needs to hear, and keeps nothing. Queries are built
 * and compiled as ever: what is left out is the database, its driver and the disk. A service on it shows how much of
 * the time of a request is not theirs. Changes wait for each other as they do for a database. It knows one workspace and
 * one token, whatever it is told.
 */
function withoutDatabase(): Storage {
  const rowsOf = (query: CompiledQuery): Row[] => {
    const [, rowOf] = answers.find(([part]) => query.sql.includes(part)) ?? [];
    return rowOf === undefined ? [] : membersOf(query).map(rowOf);
  };
  const connection: DatabaseConnection = {
    // Kysely asks for rows of the type that the query says, which only a database can promise.
    executeQuery: async <R>(query: CompiledQuery): Promise<QueryResult<R>> => ({ rows: rowsOf(query) as R[] }),
    streamQuery() {
      throw new Error('Nothing here streams.');
    },
  };
  const driver = Object.assign(new DummyDriver(), { acquireConnection: async () => connection });
  const sqlite = new SqliteDialect({ database: () => Promise.reject(new Error('There is no database.')) });
  const db = new Kysely<Tables>({ dialect: Object.assign(sqlite, { createDriver: () => driver }) });
  return {
    dialect: 'sqlite',
    read: db,
    now: sql<number>`cast(round(unixepoch('subsec') * 1000) as integer)`,
    ...groupCommits(db, { queueOf: () => '', maxParallel: 1, begin: async () => undefined, onCommit: () => undefined }),
    claim: (work) => work(db),
    broadcast: { send: async () => undefined, listen: () => () => undefined },
    check: async () => undefined,
    close: () => db.destroy(),
  };
}

if (import.meta.main) {
  // startService() has started it.
  const isBare = (process.argv.at(-1) as Kind) === 'without a database';
  const place = { data: process.env['WORKSPACE_SERVICE_DATA'] ?? '', databaseUrl: process.env['DATABASE_URL'] };
  async function open(onCommit: (changes: number) => void = () => undefined) {
    const storage = isBare ? withoutDatabase() : oneCommitPerChange(await openStorage(place, onCommit));
    return { storage, remove: storage.close };
  }
  const log = createLog('info', 'json', process.stderr);
  const service = await startTestService({ name: 'SQLite', open }, { rateLimit: null, log });
  process.once('SIGTERM', service.stop);
  const listening = {
    event: 'listening',
    base_url: `${service.baseUrl}/v1`,
    token: isBare ? onlyToken : (await service.token()).secret,
    workspace: isBare ? onlyWorkspace : await service.workspace(),
  };
  process.stdout.write(`${JSON.stringify(listening)}\n`);
}
