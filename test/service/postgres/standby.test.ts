import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { runSnippet, selfHosting, snippetWith } from '../../docs/pages.ts';
import { startFleet } from '../../fire/fleet.ts';
import { startTcpBalancer } from '../../fire/tcp-balancer.ts';
import { postgresServer } from '../../support/databases.ts';
import { leaveOut } from '../../support/left-out.ts';
import { findPostgresPrograms, type PostgresCluster, startPostgresCluster } from '../../support/postgres-cluster.ts';
import { ask, type Reply } from '../../support/running-service.ts';
import { commandFile, runCommand, startServiceProcess } from '../../support/service-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const programs = findPostgresPrograms();

beforeEach((context) => {
  if (postgresServer === undefined) leaveOut(context, 'It is part of `npm run test:postgres`.');
  if (programs === undefined) leaveOut(context, 'There is no PostgreSQL server on this machine.');
});

async function query({ url }: PostgresCluster, ...statements: readonly string[]) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // ALTER SYSTEM must be the only statement of its transaction.
    for (const statement of statements.slice(0, -1)) await client.query(statement);
    return (await client.query(statements.at(-1) ?? '')).rows;
  } finally {
    await client.end();
  }
}

/** A primary and its hot standby, with a URL that leads to one of them. */
async function startPair() {
  const start = async (primary?: PostgresCluster) => {
    const cluster = await startPostgresCluster(programs ?? '', { ...(primary && { primary }) });
    onTestFinished(() => cluster.remove());
    return cluster;
  };
  const primary = await start();
  const standby = await start(primary);
  let current = primary;
  const address = await startTcpBalancer({ targets: () => [current.port] });
  onTestFinished(() => address.close());
  const url = new URL(primary.url);
  url.port = String(address.port);
  return {
    primary,
    standby,
    url: url.href,
    /** Crashes the primary with its machine, promotes the standby, and lets the URL lead to it. */
    async failOver(beforePromotion = async (): Promise<void> => undefined) {
      await primary.crash();
      current = standby;
      await beforePromotion();
      await standby.promote();
    },
  };
}

const locks = '/workspaces/sample/locks';
const lockOn = (path: string) => ({ path, type: 'exclusive', ttl: '1h' });

interface Granted {
  readonly path: string;
  readonly fence: number;
}

test('promoting a synchronous standby loses no granted lock, and repeats no fence', async () => {
  const { primary, standby, url, failOver } = await startPair();
  await query(primary, "alter system set synchronous_standby_names = '*'", 'select pg_reload_conf()');
  const replication = () => query(primary, 'select sync_state from pg_stat_replication');
  await expect.poll(replication).toEqual([{ sync_state: 'sync' }]);

  const fleet = await startFleet(temporaryFolder(), url, 2);
  onTestFinished(async () => void (await Promise.all([fleet.kill(0), fleet.kill(1)])));
  const { token } = fleet;
  const ports = fleet.ports();
  let turn = 0;
  const send = (method: string, path: string, json?: object, headers = {}): Promise<Reply> => {
    turn += 1;
    const base = `http://127.0.0.1:${ports[turn % ports.length]}/v1`;
    return ask(base, method, path, { token, headers, ...(json && { json }) });
  };

  const granted: Granted[] = [];
  const released = new Set<string>();
  const statuses = new Set<number>();
  let isOver = false;

  /** Retries with the same key until a database is available. */
  async function insist(...sent: Parameters<typeof send>): Promise<Reply> {
    for (;;) {
      const reply = await send(...sent);
      statuses.add(reply.status);
      if (reply.status !== 503) return reply;
      await sleep(100);
    }
  }

  async function takeLocks(): Promise<void> {
    for (let count = 0; !isOver; count += 1) {
      const path = `Content/${randomUUID()}.uasset`;
      const { body, headers } = await insist('POST', locks, lockOn(path), { 'idempotency-key': path });
      granted.push({ path, fence: body.fence });
      if (count % 3 !== 0) continue;
      await insist('DELETE', `${locks}/${encodeURIComponent(path)}`, undefined, { 'if-match': headers.get('etag') });
      released.add(path);
    }
  }

  const work = Promise.all(Array.from({ length: 8 }, takeLocks));
  await expect.poll(() => granted.length, { timeout: 60_000 }).toBeGreaterThan(100);
  await failOver(async () => {
    // The standby can be read, and refuses changes.
    for (let count = 0; count < 10; count += 1)
      expect((await send('POST', locks, lockOn(`refused-${count}`))).status).toBe(503);
  });
  const before = granted.length;
  const highest = Math.max(...granted.map(({ fence }) => fence));
  await expect.poll(() => granted.length, { timeout: 60_000 }).toBeGreaterThan(before + 100);
  isOver = true;
  await work;

  const held = await query(standby, "select path from locks where workspace_id = 'sample'");
  const expected = granted.map(({ path }) => path).filter((path) => !released.has(path));
  expect(held.map(({ path }) => path).toSorted()).toEqual(expected.toSorted());
  const fences = granted.map(({ fence }) => fence);
  expect(new Set(fences).size).toBe(fences.length);
  expect(Math.min(...fences.slice(before + 8))).toBeGreaterThan(highest);
  // A release whose response was lost has already been done.
  expect([...statuses].filter((status) => ![201, 204, 404, 503].includes(status))).toEqual([]);
  expect(await fleet.stop()).toEqual([0, 0]);
});

test('raise-fences prevents repeated fences after the promotion of a standby without the last locks', async () => {
  const { primary, standby, url, failOver } = await startPair();
  const folder = join(temporaryFolder(), 'data');
  const environment = { DATABASE_URL: url };
  const start = () => startServiceProcess({ folder, environment });
  const first = await start();
  onTestFinished(async () => void (await first.kill()));
  const { token } = first;
  const take = ({ baseUrl }: { baseUrl: string }, path: string) =>
    ask(baseUrl, 'POST', locks, { token, json: lockOn(path) });
  expect((await take(first, 'before')).status).toBe(201);
  const replicated = () => query(standby, 'select path from locks');
  await expect.poll(replicated).toEqual([{ path: 'before' }]);

  await query(standby, "alter system set primary_conninfo = ''", 'select pg_reload_conf()');
  const replication = () => query(primary, 'select sync_state from pg_stat_replication');
  await expect.poll(replication).toEqual([]);
  const lost: number[] = [];
  for (let count = 0; count < 20; count += 1) {
    const { status, body } = await take(first, `lost-${count}`);
    expect(status).toBe(201);
    lost.push(body.fence);
  }
  expect(await first.stop()).toBe(0);
  await failOver();
  const asInstalled = `workspace-service() { '${process.execPath}' '${commandFile}' "$@"; }\n`;
  const raised = await runSnippet(asInstalled + snippetWith(selfHosting, 'raise-fences'), { environment });
  expect(raised).toMatch(/^Fences raised by \d{7,}\.\nsystemctl start workspace-service\n$/);

  const second = await start();
  onTestFinished(async () => void (await second.stop()));
  const { body } = await ask(second.baseUrl, 'GET', locks, { token });
  expect(body.locks.map(({ path }: { path: string }) => path)).toEqual(['before']);
  const next = await take(second, 'next');
  expect(next.status).toBe(201);
  expect(next.body.fence).toBeGreaterThan(Math.max(...lost));
  const audit = await runCommand(['audit', '--json'], { folder, environment });
  const actions = JSON.parse(audit.stdout).entries.map(({ action }: { action: string }) => action);
  expect(actions.filter((action: string) => action === 'fences.raised')).toHaveLength(1);
});
