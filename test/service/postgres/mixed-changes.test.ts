import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createToken, revokeToken } from '../../../src/service/tokens/tokens.ts';
import { addWorkspace, removeWorkspaceAudited } from '../../../src/service/workspaces/workspaces.ts';
import { createPostgresDatabase, postgresAt, postgresServer } from '../../support/databases.ts';
import { createRepository } from '../../support/git-repository.ts';
import { readLockHistory, readOutbox, recordOutbox } from '../../support/instances/history.ts';
import { type Ask, ask, type Reply, type RunningService, startTestService } from '../../support/running-service.ts';
import { runs } from '../../support/runs.ts';
import { printedSeed, type Random, randomOf } from '../../support/seed.ts';
import { operator } from '../../support/trusted-jobs.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts';

const workspaces = Array.from({ length: 8 }, (_, index) => `workspace-${index}`);
const paths = ['a', 'b', 'c'];
const lockEvents = ['lock.acquired', 'lock.released', 'lock.expired'];
const clients = 24;
const rounds = runs(25, 400);

const oneOf = <Of>(all: readonly [Of, ...Of[]] | readonly Of[], random: Random): Of =>
  all[Math.floor(random() * all.length)] as Of;

describe.skipIf(postgresServer === undefined)('concurrent changes of all kinds (needs TEST_DATABASE_URL)', () => {
  let folder: string;
  let url: string;
  let removeDatabase: () => Promise<void>;
  let instances: readonly RunningService[];
  let receiver: WebhookReceiver;
  let token: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'workspace-mixed-'));
    const database = await createPostgresDatabase(postgresServer ?? '');
    ({ url } = database);
    removeDatabase = database.remove;
    receiver = await startWebhookReceiver();
    const options = { allowedNetworks: ['127.0.0.0/8'] };
    instances = await Promise.all([1, 2, 3].map(() => startTestService(postgresAt(url), options)));
    const [first] = instances;
    token = (await first?.token())?.secret ?? '';
    const remote = createRepository(folder);
    remote.commit({ branch: 'main', files: { a: '1' } });
    await first?.storage.commit('global', async (db) => {
      for (const id of workspaces) {
        await addWorkspace(db, first.storage.now, { id, remote: pathToFileURL(remote.path).href });
      }
    });
  });
  afterAll(async () => {
    await Promise.all(instances.map((instance) => instance.stop()));
    await receiver.close();
    await removeDatabase();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  });

  const holders = new Map<string, string>();
  const fences = new Map<string, number[]>();
  const wrong: string[] = [];

  const send = (random: Random, method: string, path: string, given: Ask = {}): Promise<Reply> =>
    ask(oneOf(instances, random).baseUrl, method, `/v1/workspaces/${path}`, { token, ...given });

  /** Sends the same request to two instances at once, as after a lost response. */
  async function sendTwice(random: Random, path: string, json: unknown): Promise<Reply> {
    const request = { json, headers: { 'idempotency-key': randomUUID() } };
    const replies = await Promise.all([1, 2].map(() => send(random, 'POST', path, request)));
    // One may arrive while the other runs at the same instance, and the second of them may succeed after a refusal.
    const done = replies.filter(({ status }) => status < 300);
    if (new Set(done.map(({ text }) => text)).size > 1) wrong.push(`${path} was done twice: ${JSON.stringify(json)}`);
    return (done[0] ?? replies[0]) as Reply;
  }

  function expectOneOf(statuses: readonly number[], { status, text }: Reply): void {
    if (!statuses.includes(status)) wrong.push(`${status} ${text}`);
  }

  async function takeAndGiveBack(random: Random): Promise<void> {
    const workspace = oneOf(workspaces, random);
    const path = oneOf(paths, random);
    const isLeft = random() < 0.2;
    const taken = await sendTwice(random, `${workspace}/locks`, { path, type: 'exclusive', ttl: isLeft ? '1s' : '1h' });
    expectOneOf([201, 409], taken);
    if (taken.status !== 201) return;
    fences.set(workspace, [...(fences.get(workspace) ?? []), taken.body.fence]);
    if (isLeft) return;
    const place = `${workspace} ${path}`;
    if (holders.has(place)) wrong.push(`${place} has two holders.`);
    holders.set(place, taken.body.id);
    const headers = { 'if-match': `"${taken.body.id}"` };
    if (random() < 0.3) {
      expectOneOf(
        [200],
        await send(random, 'POST', `${workspace}/locks`, { json: { path, type: 'exclusive', ttl: '2h' }, headers }),
      );
    }
    holders.delete(place);
    expectOneOf([204], await send(random, 'DELETE', `${workspace}/locks/${path}`, { headers }));
  }

  async function sync(random: Random): Promise<void> {
    expectOneOf([202, 409], await sendTwice(random, `${oneOf(workspaces, random)}/sync`, { branch: 'main' }));
  }

  async function addAndRemoveWorkspace(random: Random): Promise<void> {
    const { storage } = oneOf(instances, random);
    // Few ids are used, so that some workspaces are added again after their removal.
    const id = `passing-${Math.floor(random() * 3)}`;
    const scope = { workspace: id };
    await storage.commit(scope, (db) => addWorkspace(db, storage.now, { id, remote: 'https://git.example.com/r.git' }));
    const hook = { url: receiver.url('/passing'), events: lockEvents };
    expectOneOf([200, 201, 404], await send(random, 'POST', `${id}/hooks`, { json: hook }));
    const taken = await send(random, 'POST', `${id}/locks`, { json: { path: 'a', type: 'exclusive', ttl: '1s' } });
    expectOneOf([201, 404, 409], taken);
    if (taken.status === 201) {
      fences.set(id, [...(fences.get(id) ?? []), taken.body.fence]);
      await send(random, 'DELETE', `${id}/locks/a`);
    }
    await storage.commit(scope, (db) => removeWorkspaceAudited(db, storage.now, operator, id));
  }

  async function makeAndRevokeToken(random: Random): Promise<void> {
    const { storage } = oneOf(instances, random);
    const made = { name: 'passing', scopes: ['locks:read'], workspaces: null, lifetime: null } as const;
    const { token } = await storage.commit('global', (db) => createToken(db, storage.now, made));
    await storage.commit('global', (db) => revokeToken(db, storage.now, token.id));
  }

  async function client(random: Random): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      const chance = random();
      if (chance < 0.75) await takeAndGiveBack(random);
      else if (chance < 0.85) await addAndRemoveWorkspace(random);
      else if (chance < 0.95) await makeAndRevokeToken(random);
      else await sync(random);
    }
  }

  test('are each applied once and in order, without deadlocks', {
    timeout: runs(500_000, 1_200_000),
  }, async () => {
    const seed = printedSeed('The mixture is of a seed');
    await recordOutbox(url);
    for (const workspace of workspaces) {
      const hook = { url: receiver.url(`/${workspace}`), events: lockEvents };
      expect((await send(randomOf(seed), 'POST', `${workspace}/hooks`, { json: hook })).status).toBe(201);
    }
    await Promise.all(Array.from({ length: clients }, (_, index) => client(randomOf(seed + index))));
    expect(wrong).toEqual([]);
    for (const given of fences.values()) expect(new Set(given).size).toBe(given.length);

    const history = async () => {
      const rows = await readOutbox(url);
      return { rows, byWorkspace: Map.groupBy(rows, ({ event }) => event.workspace) };
    };
    // The remaining locks expire, and then all events have been delivered.
    await expect
      .poll(
        async () =>
          (await history()).rows.filter(({ isWaiting }) => isWaiting).length +
          [...(await history()).byWorkspace.values()].reduce((sum, rows) => sum + readLockHistory(rows).left.size, 0),
        { timeout: 200_000 },
      )
      .toBe(0);
    const { byWorkspace } = await history();
    for (const workspace of workspaces) {
      const rows = byWorkspace.get(workspace) ?? [];
      expect(readLockHistory(rows).wrong).toEqual([]);
      const arrived = receiver.deliveries.filter(({ url }) => url === `/${workspace}`);
      for (const [key, ofKey] of Map.groupBy(rows, (row) => row.key)) {
        const ids = ofKey.map(({ id }) => id);
        const heard = arrived.map(({ headers }) => String(headers['webhook-id'])).filter((id) => ids.includes(id));
        expect([key, [...new Set(heard)]]).toEqual([key, ids]);
      }
    }

    const watcher = new pg.Client({ connectionString: url });
    await watcher.connect();
    const { rows } = await watcher.query(
      'select deadlocks::int from pg_stat_database where datname = current_database()',
    );
    await watcher.end();
    expect(rows).toEqual([{ deadlocks: 0 }]);
    for (const instance of instances) expect(instance.log()).not.toMatch(/background work failed|deadlock/);
  });
});
