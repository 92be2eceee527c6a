import { once } from 'node:events';
import { parentPort, Worker } from 'node:worker_threads';
import pg from 'pg';
import { type Bench, inTurns } from '../benchmark.ts';
import { processorMsOf } from '../process.ts';
import { lockBody, lockPath } from './load.ts';
import { openClient, type Target } from './request.ts';

/** Clients that lock and release one path after the other, at the service or at a peer. */

export type Server =
  | { readonly kind: 'service'; readonly target: Target; readonly pid: number | undefined }
  /** The base URL of its gateway, which takes JSON, like the service. */
  | { readonly kind: 'etcd'; readonly baseUrl: string }
  /** Rows of a table, which say that their path is locked, and nothing else. */
  | { readonly kind: 'rows'; readonly databaseUrl: string };

interface PairsPlan {
  readonly server: Server;
  readonly clients: number;
  /** Part of all paths. */
  readonly name: string;
  /** Pairs during the warm-up do not count. */
  readonly warmUpMs: number;
  readonly ms: number;
}

interface Client {
  /** Locks the path, and returns what releases it. */
  lock(path: string): Promise<() => Promise<unknown>>;
  close(): unknown;
}

function openService(target: Target): Client {
  const { ask, close } = openClient(target);
  return {
    async lock(path) {
      await ask({ method: 'POST', path: '/locks', body: lockBody(path), statuses: [201] });
      return () => ask({ method: 'DELETE', path: `/locks/${encodeURIComponent(path)}`, statuses: [204] });
    },
    close,
  };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** With a lease for each lock, as any holder may die. */
function openEtcd(baseUrl: string): Client {
  const { ask, close } = openClient({ baseUrl });
  const post = async (path: string, body: object) =>
    (await ask({ method: 'POST', path, body: JSON.stringify(body), statuses: [200] })).body;
  return {
    async lock(path) {
      const lease = /"ID":"(\d+)"/.exec(await post('/lease/grant', { TTL: 3_600 }))?.[1];
      const key = base64(path);
      const compare = [{ key, target: 'CREATE', result: 'EQUAL', create_revision: 0 }];
      const success = [{ request_put: { key, value: base64('release'), lease } }];
      const answer = await post('/kv/txn', { compare, success });
      if (!answer.includes('"succeeded":true')) throw new Error(`etcd did not lock ${path}: ${answer}`);
      return () => post('/lease/revoke', { ID: lease });
    },
    close,
  };
}

async function openRows(connectionString: string): Promise<Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return {
    async lock(path) {
      await client.query({ name: 'lock', text: 'insert into locked values ($1)', values: [path] });
      return () => client.query({ name: 'release', text: 'delete from locked where path = $1', values: [path] });
    },
    close: () => client.end(),
  };
}

function open(server: Server): Client | Promise<Client> {
  if (server.kind === 'service') return openService(server.target);
  return server.kind === 'etcd' ? openEtcd(server.baseUrl) : openRows(server.databaseUrl);
}

/** Returns the pairs per second, and how long each lock took. */
async function runPairs({ server, clients, name, warmUpMs, ms }: PairsPlan) {
  const all = await Promise.all(Array.from({ length: clients }, () => open(server)));
  const latenciesMs: number[] = [];
  const countFrom = performance.now() + warmUpMs;
  const countUntil = countFrom + ms;
  let next = 0;
  let pairs = 0;
  let withWarmUp = 0;

  async function run(client: Client): Promise<void> {
    while (performance.now() < countUntil) {
      const path = lockPath(name, next);
      next += 1;
      const askedAt = performance.now();
      const release = await client.lock(path);
      const lockedAt = performance.now();
      await release();
      withWarmUp += 1;
      if (lockedAt < countFrom || performance.now() > countUntil) continue;
      latenciesMs.push(lockedAt - askedAt);
      pairs += 1;
    }
    await client.close();
  }
  await Promise.all(all.map(run));
  return { latenciesMs, withWarmUp, rate: (pairs / ms) * 1_000 };
}

/** A number of clients of one server, measured again in every round. */
export interface Pairs extends Pick<PairsPlan, 'server' | 'clients'> {
  readonly rates: number[];
  /** Processor time of the server for a pair. */
  readonly processorMs: number[];
  readonly latenciesMs: number[];
}

export async function measurePairs(
  bench: Bench,
  { rounds, ...times }: Pick<PairsPlan, 'warmUpMs' | 'ms'> & { readonly rounds: number },
  all: readonly Pairs[],
): Promise<void> {
  // Clients run in their own thread: they share no event loop with the benchmark.
  const thread = new Worker(import.meta.filename);
  bench.atEnd(() => thread.terminate());
  await inTurns(bench, rounds, [...all.entries()], async ([index, each], round) => {
    const { server, clients, rates, processorMs, latenciesMs } = each;
    const used = () => (server.kind === 'service' ? processorMsOf(server.pid) : Number.NaN);
    const before = await used();
    thread.postMessage({ ...times, server, clients, name: `${round}-${index}` });
    // The thread sends no other messages. If it fails, `once` rejects.
    const [one] = (await once(thread, 'message')) as [Awaited<ReturnType<typeof runPairs>>];
    rates.push(one.rate);
    processorMs.push(((await used()) - before) / one.withWarmUp);
    for (const latency of one.latenciesMs) latenciesMs.push(latency);
  });
}

if (import.meta.main) parentPort?.on('message', async (plan) => parentPort?.postMessage(await runPairs(plan)));
