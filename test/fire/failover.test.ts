import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { onTestFinished, test } from 'vitest';
import { freePort } from '../support/listen.ts';
import { type PostgresCluster, startPostgresCluster } from '../support/postgres-cluster.ts';
import { ask } from '../support/running-service.ts';
import { runs } from '../support/runs.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { programsFor } from './chaos.ts';
import { startFleet } from './fleet.ts';
import { type Desk, holdingJob, measuredTimes, type Ttl, vanish, waitingJob } from './next-job.ts';
import { startTcpBalancer } from './tcp-balancer.ts';

/** How long the next job waits if a machine of the service dies at the moment when the holder ends. */

const times = runs(1, 20);
const ttls: readonly Ttl[] = [
  { text: '30s', ms: 30_000 },
  { text: '5m', ms: 300_000 },
];
const timeoutMs = runs(180_000, 900_000);
/** On a machine with other work, everything takes longer. */
const limits = runs({ median: 40, worst: 40 }, { median: 5, worst: 15 });

/** A PostgreSQL server whose standby has every commit. */
async function withStandby(primary: PostgresCluster, programs: string): Promise<PostgresCluster> {
  const standby = await startPostgresCluster(programs, { primary });
  const client = new pg.Client({ connectionString: primary.url });
  await client.connect();
  await client.query("alter system set synchronous_standby_names = '*'");
  await client.query('select pg_reload_conf()');
  await client.end();
  return standby;
}

/** Two instances on one database, and one address, which leads to the first of them that runs. */
async function startPair(databaseUrl: string) {
  const fleet = await startFleet(temporaryFolder(), databaseUrl, 2);
  onTestFinished(async () => void (await fleet.stop()));
  const address = await startTcpBalancer({ targets: () => fleet.ports().slice(0, 1) });
  onTestFinished(() => address.close());
  const desk: Desk = { baseUrl: `http://127.0.0.1:${address.port}/v1`, token: fleet.token, workspace: 'sample' };
  return { fleet, desk };
}

/** In each round, for each ttl, one job ends right after `fail`, and another waits for its lock. */
async function measureRounds(name: string, desk: Desk, fail: () => Promise<void>, repair: () => Promise<void>) {
  const ms = new Map(ttls.map((ttl) => [ttl, [] as number[]]));
  for (let round = 0; round < times; round += 1) {
    const pairs = await Promise.all(
      ttls.map(async (ttl) => {
        const path = `${name}/${ttl.text}/${round}`;
        const holder = await holdingJob(desk, path, ttl);
        return { ttl, holder, waiter: await waitingJob(desk, path, ttl) };
      }),
    );
    const failedAt = performance.now();
    await fail();
    await Promise.all(
      pairs.map(async ({ ttl, holder, waiter }) => {
        const ended = holder.post();
        ms.get(ttl)?.push((await waiter.granted) - failedAt);
        await ended;
        await Promise.all([holder, waiter.job].map(vanish));
      }),
    );
    await repair();
  }
  for (const [ttl, taken] of ms) measuredTimes(`${name}, ttl ${ttl.text}`, taken, limits);
}

test('the next job has the lock seconds after an instance was killed', { timeout: timeoutMs }, async (context) => {
  const cluster = await startPostgresCluster(programsFor(context));
  onTestFinished(() => cluster.remove());
  const { fleet, desk } = await startPair(cluster.url);
  let first = 0;
  await measureRounds(
    'SIGKILL of one of two instances',
    desk,
    async () => void (await fleet.kill(first)),
    async () => {
      await fleet.start(first);
      // The other one is now the first that runs.
      first = 1 - first;
    },
  );
});

test('the next job has the lock seconds after the primary was killed and its standby promoted', {
  timeout: timeoutMs,
}, async (context) => {
  const programs = programsFor(context);
  let primary = await startPostgresCluster(programs);
  let standby = await withStandby(primary, programs);
  onTestFinished(async () => void (await Promise.all([primary.remove(), standby.remove()])));
  const database = await startTcpBalancer({ targets: () => [primary.port] });
  onTestFinished(() => database.close());
  const url = new URL(primary.url);
  url.port = String(database.port);
  const { desk } = await startPair(url.href);
  await measureRounds(
    "SIGKILL of the database's primary",
    desk,
    async () => {
      await primary.crash();
      await standby.promote();
      await primary.remove();
      primary = standby;
    },
    async () => {
      standby = await withStandby(primary, programs);
    },
  );
});

test('an upgrade stops grants for as long as a restart takes', { timeout: timeoutMs }, async () => {
  const folder = temporaryFolder();
  const port = await freePort();
  const start = () => startServiceProcess({ folder, port, args: ['--rate-limit', '0', '--log-level', 'error'] });
  let service = await start();
  const { baseUrl, token, workspace } = service;
  const locks = `/workspaces/${workspace}/locks`;
  const gapsMs: number[] = [];
  let grantedAt: number | undefined;
  let longestMs = 0;
  let isOver = false;

  async function lockAndRelease(path: string): Promise<void> {
    const { status } = await ask(baseUrl, 'POST', locks, { token, json: { path, type: 'exclusive', ttl: '1m' } });
    if (status !== 201) return;
    const now = performance.now();
    longestMs = Math.max(longestMs, now - (grantedAt ?? now));
    grantedAt = now;
    await ask(baseUrl, 'DELETE', `${locks}/${path}`, { token });
  }
  const work = (async () => {
    // A path of its own for each, because the release may be lost with the service.
    for (let number = 0; !isOver; number += 1) await lockAndRelease(`seat-${number}`).catch(() => sleep(10));
  })();

  const nextGrantAfter = async (time: number): Promise<void> => {
    while ((grantedAt ?? 0) <= time) await sleep(10);
  };
  await nextGrantAfter(0);
  for (let round = 0; round < times; round += 1) {
    longestMs = 0;
    await service.stop();
    const stoppedAt = performance.now();
    service = await start();
    await nextGrantAfter(stoppedAt);
    gapsMs.push(longestMs);
  }
  isOver = true;
  await work;
  await service.stop();
  measuredTimes('An upgrade of the only instance', gapsMs, runs({ median: 40, worst: 40 }, { median: 5, worst: 10 }));
});
