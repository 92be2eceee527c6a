import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pluralize } from '../src/interface/format.ts';
import { freePort } from '../test/support/listen.ts';
import { startProcess } from '../test/support/started-process.ts';
import {
  atLeast,
  atMost,
  type Bench,
  type Benchmark,
  type Figure,
  figure,
  medianFigure,
  ratioFigure,
} from './benchmark.ts';
import { measurePairs, type Pairs, type Server } from './service/pairs.ts';
import { newPlace, type Place, postgresPlace } from './service/seed.ts';
import { startService } from './service/service-process.ts';
import { percentileOf } from './statistics.ts';

const full = { rounds: 5, warmUpMs: 500, ms: 2_000 };
const small = { rounds: 1, warmUpMs: 50, ms: 200 };

/** The service and a peer with the same numbers of clients, and the least that the service must reach of the peer. */
interface Comparison {
  readonly name: string;
  readonly peer: string;
  readonly clients: readonly { readonly ours: Pairs; readonly theirs: Pairs | undefined; readonly least: number }[];
}

const pairsAt = (server: Server, clients: number): Pairs => ({
  server,
  clients,
  rates: [],
  processorMs: [],
  latenciesMs: [],
});

const limitsByClients = {
  etcd: [
    [1, 1],
    [32, 2],
    [256, 3],
  ],
  rows: [
    [1, 0.4],
    [32, 0.4],
  ],
} as const;

/** Starts etcd with its defaults, but for the addresses; undefined if it is not installed. */
async function startEtcd({ folder, atEnd, leaveOut }: Bench): Promise<Server | undefined> {
  if (spawnSync('etcd', ['--version']).status !== 0) {
    leaveOut({ name: 'etcd', reason: 'It is not installed.' });
    return undefined;
  }
  const [clients, peers] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const data = ['--data-dir', join(folder, 'etcd'), '--logger', 'zap', '--log-level', 'error'];
  const here = ['--listen-client-urls', clients, '--advertise-client-urls', clients, '--listen-peer-urls', peers];
  const cluster = ['--initial-advertise-peer-urls', peers, '--initial-cluster', `default=${peers}`];
  const etcd = startProcess(['etcd', ...data, ...here, ...cluster], { env: { PATH: process.env['PATH'] } });
  atEnd(() => {
    etcd.signal('SIGTERM');
    return etcd.ended();
  });
  while (!(await isHealthy(clients))) {
    if (etcd.hasEnded()) throw new Error(`etcd did not start: ${etcd.stderr.text()}`);
    await sleep(50);
  }
  return { kind: 'etcd', baseUrl: `${clients}/v3` };
}

const isHealthy = (url: string): Promise<boolean> =>
  fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  );

/** A table of locked paths in a database of its own. */
async function createRows(bench: Bench, server: string): Promise<Server> {
  const { databaseUrl } = await postgresPlace(bench, server);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('create table locked (path text primary key)');
  await client.end();
  return { kind: 'rows', databaseUrl };
}

async function serviceAt(bench: Bench, place: Place): Promise<Server> {
  const { baseUrl, workspace, token, pid } = await startService(bench, { place, rateLimit: 'off' });
  return { kind: 'service', target: { baseUrl, workspace, token }, pid };
}

/** A server without tokens, workspaces and everything else that the service does for a lock. */
async function startBare({ folder, atEnd }: Bench): Promise<Server> {
  const file = join(import.meta.dirname, 'service/bare-server.ts');
  const bare = startProcess([process.execPath, file, join(folder, 'bare.db')], { env: { PATH: process.env['PATH'] } });
  atEnd(() => {
    bare.signal('SIGTERM');
    return bare.ended();
  });
  const port = await bare.stdout.until((text) => /^\d+$/m.exec(text)?.[0]);
  return {
    kind: 'service',
    target: { baseUrl: `http://127.0.0.1:${port}`, workspace: 'any', token: '' },
    pid: bare.pid,
  };
}

function figuresOf({ name, peer, clients }: Comparison): readonly Figure[] {
  return clients.flatMap(({ ours, theirs, least }) => {
    const where = pluralize(ours.clients, 'client');
    const limit = atLeast(least, 'a lock should not cost more than where only locks are kept');
    return [
      ...ofServer(`${name}, ${where}`, ours),
      ...(theirs === undefined
        ? []
        : [
            ...ofServer(`${peer}, ${where}`, theirs),
            ratioFigure(`${name}, ${where}: pairs relative to ${peer}`, ours.rates, theirs.rates, { limit }),
          ]),
    ];
  });
}

const ofServer = (where: string, { rates, latenciesMs }: Pairs): readonly Figure[] => [
  medianFigure(`${where}: pairs of lock and release`, '/s', rates),
  figure(`${where}: median time of a lock`, 'ms', percentileOf(latenciesMs, 50)),
  figure(`${where}: 99th percentile of it`, 'ms', percentileOf(latenciesMs, 99)),
];

export const peers: Benchmark = {
  name: 'peers',
  what: 'Paths locked and released per second, compared with etcd and its leases, and with rows of PostgreSQL.',
  async measure(bench) {
    const compare = (
      names: Pick<Comparison, 'name' | 'peer'>,
      ours: Server,
      theirs: Server | undefined,
    ): Comparison => ({
      ...names,
      clients: limitsByClients[theirs?.kind === 'rows' ? 'rows' : 'etcd'].map(([clients, least]) => ({
        ours: pairsAt(ours, clients),
        theirs: theirs && pairsAt(theirs, clients),
        least,
      })),
    });
    const onSqlite = await serviceAt(bench, await newPlace(bench));
    const comparisons = [compare({ name: 'SQLite', peer: 'etcd' }, onSqlite, await startEtcd(bench))];
    const server = await bench.postgres();
    if (server !== undefined) {
      const ours = await serviceAt(bench, await postgresPlace(bench, server));
      comparisons.push(
        compare({ name: 'PostgreSQL', peer: 'INSERT and DELETE' }, ours, await createRows(bench, server)),
      );
    }
    const [alone, bare] = [pairsAt(onSqlite, 1), pairsAt(await startBare(bench), 1)];
    const pairs = comparisons.flatMap(({ clients }) => clients).flatMap(({ ours, theirs }) => [ours, theirs]);
    const present = [alone, bare, ...pairs].filter((each) => each !== undefined);
    await measurePairs(bench, bench.quick ? small : full, present);
    const what = 'one lock: processor time relative to node:http and node:sqlite alone';
    const limit = atMost(3, 'design §6');
    return [
      ratioFigure(what, alone.processorMs, bare.processorMs, { limit, shown: true }),
      ...comparisons.flatMap(figuresOf),
    ];
  },
};
