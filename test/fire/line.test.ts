import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { medianOf } from '../../bench/statistics.ts';
import { createPostgresDatabase, postgresServer } from '../support/databases.ts';
import { startFleet } from '../support/instances/fleet.ts';
import { leaveOut } from '../support/left-out.ts';
import { measured } from '../support/measured.ts';
import { findPostgresPrograms, startPostgresCluster } from '../support/postgres-cluster.ts';
import { type Reply, ask as send } from '../support/running-service.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const clients = runs(200, 1_000);
const leavers = 10;
const path = 'Content/Hero.uasset';
const quietMs = 3_000;
/** Longer than the others wait for a client that asks again, on a busy machine or after its instance was killed. */
const awayMs = 10_000;

/** The URL of an empty database; undefined without PostgreSQL. */
async function databaseUrl(): Promise<string | undefined> {
  const programs = postgresServer === undefined ? findPostgresPrograms() : undefined;
  if (programs !== undefined) {
    const cluster = await startPostgresCluster(programs);
    onTestFinished(cluster.remove);
    return cluster.url;
  }
  if (postgresServer === undefined) return undefined;
  const { url, remove } = await createPostgresDatabase(postgresServer);
  onTestFinished(remove);
  return url;
}

async function countTransactions(connectionString: string): Promise<() => Promise<number>> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  onTestFinished(() => client.end());
  return async () => {
    const { rows } = await client.query(
      'select (xact_commit + xact_rollback)::int as count from pg_stat_database where datname = current_database()',
    );
    return rows[0].count;
  };
}

test('a long line at two instances keeps its order when one is killed, and waits for no client that has gone', {
  timeout: 300_000,
}, async (context) => {
  if (process.env['SOAK'] !== '1' && postgresServer === undefined) {
    leaveOut(context, 'It is part of `npm run test:postgres`.');
  }
  const url = await databaseUrl();
  if (url === undefined) leaveOut(context, 'There is no PostgreSQL server on this machine.');
  const fleet = await startFleet(temporaryFolder(), url, 2);
  onTestFinished(async () => void (await Promise.all([fleet.kill(0), fleet.kill(1)])));
  const transactions = await countTransactions(url);
  const { token } = fleet;
  let turn = 0;
  const ask = (method: string, address: string, headers = {}, json?: object, signal?: AbortSignal): Promise<Reply> => {
    const ports = fleet.ports();
    turn += 1;
    const base = `http://127.0.0.1:${ports[turn % ports.length]}/v1/workspaces/sample`;
    return send(base, method, address, { token, headers, ...(json && { json }), ...(signal && { signal }) });
  };
  const lock = { path, type: 'exclusive', ttl: '1h' };
  let releasedAt = Number.NaN;
  async function release(etag: string | null): Promise<void> {
    await ask('DELETE', `/locks/${encodeURIComponent(path)}`, { 'if-match': etag ?? '' });
    releasedAt = performance.now();
  }
  const queue = async (): Promise<string[]> => {
    const { body } = await ask('GET', '/queue');
    return body.queue.map(({ origin }: { readonly origin: string }) => origin);
  };

  const held = await ask('POST', '/locks', {}, lock);
  const granted: { readonly origin: string; readonly at: number; readonly askedAt: readonly number[] }[] = [];
  const handOverMs: number[] = [];
  const line = Array.from({ length: clients }, (_, index) => {
    const origin = `https://ci.example.com/runs/${index}`;
    const headers = { prefer: 'wait=30', 'idempotency-key': `client-${index}`, referer: origin };
    const leaving = new AbortController();
    const askedAt: number[] = [];
    async function waitAndRelease(): Promise<void> {
      while (!leaving.signal.aborted) {
        askedAt.push(performance.now());
        // A killed instance cuts the connection. The client asks again, at the other one.
        const reply = await ask('POST', '/locks', headers, lock, leaving.signal).catch(() => undefined);
        if (reply?.status !== 201) continue;
        const at = performance.now();
        handOverMs.push(at - releasedAt);
        granted.push({ origin, at, askedAt });
        await release(reply.headers.get('etag'));
        return;
      }
    }
    return { leaving, done: waitAndRelease() };
  });
  const length = async (): Promise<number> => (await queue()).length;
  await expect.poll(length, { timeout: 60_000 }).toBe(clients);
  const before = await transactions();
  await sleep(quietMs);
  measured('transactions per second while the line waits', ((await transactions()) - before) / (quietMs / 1_000), {
    atMost: 100,
  });

  for (const { leaving } of line.filter((_, index) => index % (clients / leavers) === 5)) leaving.abort();
  await expect.poll(length, { timeout: 60_000 }).toBe(clients - leavers);
  const inLine = await queue();
  await fleet.kill(0);
  await release(held.headers.get('etag'));
  await Promise.all(line.map(({ done }) => done));
  measured('clients in line that were granted the lock', granted.length, { exactly: runs(190, 990) });
  const places = new Map(inLine.map((origin, place) => [origin, place]));
  const placeOf = (origin: string): number => places.get(origin) ?? Number.NaN;
  const overtaken = granted.filter(({ origin, askedAt }, index) =>
    granted
      .slice(0, index)
      .filter((other) => placeOf(other.origin) > placeOf(origin))
      .some(({ at }) => !askedAt.some((asked) => asked > at - awayMs && asked < at)),
  );
  measured('clients overtaken while they waited', overtaken.length, { exactly: 0 });
  measured('median time from a release to the next grant (ms)', medianOf(handOverMs), { atMost: runs(300, 100) });
});
