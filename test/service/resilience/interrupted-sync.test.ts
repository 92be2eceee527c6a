import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createRepository } from '../../support/git-repository.ts';
import { nameOf, pointerTo, startLfsStore } from '../../support/lfs-store.ts';
import { silence } from '../../support/other-servers/responses.ts';
import { ask } from '../../support/running-service.ts';
import { runCommand, startServiceProcess } from '../../support/service-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { needsClient } from '../lfs/desk.ts';

beforeEach(needsClient);

type LfsStore = Awaited<ReturnType<typeof startLfsStore>>;

/** Starts a sync of this number of LFS objects from a store with the given behaviour. */
async function startSync(count: number, behave: (store: LfsStore) => LfsStore['behaviour']['download']) {
  const folder = temporaryFolder();
  const data = join(folder, 'data');
  const repository = createRepository(folder);
  const store = await startLfsStore({ public: true });
  onTestFinished(store.close);
  const names = Array.from({ length: count }, (_, index) => store.put(randomBytes(10_000 + index)));
  const pointers = names.map((name, index) => [`Content/${index}.uasset`, pointerTo(name)] as const);
  repository.commit({ branch: 'main', files: Object.fromEntries(pointers) });
  store.behaviour.download = behave(store);

  let service = await startServiceProcess({ folder: data });
  onTestFinished(async () => void (await service.kill()));
  const { token } = service;
  const args = ['--remote', repository.path, '--lfs-url', store.url];
  expect(await runCommand(['workspace', 'add', 'game', ...args], { folder: data })).toMatchObject({ code: 0 });
  const triggered = await ask(service.baseUrl, 'POST', '/workspaces/game/sync', { token, json: { branch: 'main' } });
  expect(triggered.status).toBe(202);
  const objects = join(data, 'lfs');
  return {
    store,
    service: () => service,
    async startAgain(): Promise<void> {
      service = await startServiceProcess({ folder: data });
    },
    sync: async () =>
      (await ask(service.baseUrl, 'GET', `/workspaces/game/syncs/${triggered.body.sync_id}`, { token })).body,
    /** The paths of the stored objects. */
    async stored(): Promise<readonly string[]> {
      const found = await readdir(objects, { recursive: true }).catch(() => []);
      return found.filter((name) => basename(name).length === 64).map((name) => join(objects, name));
    },
  };
}

async function expectComplete(paths: readonly string[]): Promise<void> {
  for (const path of paths) expect(nameOf(await readFile(path)).oid).toBe(basename(path));
}

test('a kill -9 during a sync of 1,000 LFS objects leaves only complete objects, and the sync continues', async () => {
  const count = 1_000;
  const { store, service, startAgain, sync, stored } = await startSync(count, ({ downloads, objects }) => {
    return (_request, { oid, size }) => {
      if (downloads.length < count / 3) return undefined;
      // Half of each object that is being sent when the service dies.
      return (response) => {
        response.writeHead(200, { 'content-length': size });
        response.write(objects.get(oid)?.subarray(0, size / 2));
      };
    };
  });
  await expect.poll(async () => (await stored()).length).toBeGreaterThan(count / 4);
  expect(await service().kill()).toBe('SIGKILL');
  const there = await stored();
  expect(there.length).toBeLessThan(count / 3);
  await expectComplete(there);

  store.behaviour.download = undefined;
  const asked = store.downloads.length;
  await startAgain();
  await expect.poll(sync, { timeout: 60_000 }).toMatchObject({ status: 'succeeded', missing_objects: 0 });
  const all = await stored();
  expect(all).toHaveLength(count);
  await expectComplete(all);
  expect(store.downloads.length - asked).toBeLessThanOrEqual(count - there.length);
});

test('a sync that takes longer than ten restarts succeeds, and fetches no object twice', async () => {
  // Twice the number of crashes that a sync survives.
  const restarts = 10;
  const objectsOfRun = 6;
  const count = (restarts + 1) * objectsOfRun;
  // Stands for an hour: between two restarts, the store sends only a few objects.
  const sent: string[] = [];
  let left = objectsOfRun;
  const { service, startAgain, sync, stored } = await startSync(count, () => (_request, { oid }) => {
    if (left === 0) return silence;
    left -= 1;
    sent.push(oid);
    return undefined;
  });
  for (let run = 1; run <= restarts; run += 1) {
    await expect.poll(async () => (await stored()).length).toBe(run * objectsOfRun);
    expect(await sync()).toMatchObject({ status: 'running' });
    expect(await service().stop()).toBe(0);
    left = objectsOfRun;
    await startAgain();
  }
  await expect.poll(sync).toMatchObject({ status: 'succeeded', missing_objects: 0 });
  expect([sent.length, new Set(sent).size]).toEqual([count, count]);
});
