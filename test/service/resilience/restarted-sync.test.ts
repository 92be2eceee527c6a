import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createRepository } from '../../support/git-repository.ts';
import { leaveOut } from '../../support/left-out.ts';
import { pointerTo, startLfsStore } from '../../support/lfs-store.ts';
import { silence } from '../../support/other-servers/responses.ts';
import { ask } from '../../support/running-service.ts';
import { runCommand, startServiceProcess } from '../../support/service-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { whyNoClient } from '../lfs/desk.ts';

/** Twice the number of crashes that a sync survives. */
const restarts = 10;
const objectsOfRun = 6;
const count = (restarts + 1) * objectsOfRun;

test('a sync that takes longer than ten restarts succeeds, and fetches no object twice', async (context) => {
  if (whyNoClient !== undefined) leaveOut(context, whyNoClient);
  const folder = temporaryFolder();
  const data = join(folder, 'data');
  const repository = createRepository(folder);
  const store = await startLfsStore({ public: true });
  onTestFinished(store.close);
  const files = Array.from(
    { length: count },
    (_, index) => [`Content/${index}.uasset`, pointerTo(store.put(randomBytes(10_000)))] as const,
  );
  repository.commit({ branch: 'main', files: Object.fromEntries(files) });

  // Stands for an hour: between two restarts, the store sends only a few objects.
  const sent: string[] = [];
  let left = objectsOfRun;
  store.behaviour.download = (_request, { oid }) => {
    if (left === 0) return silence;
    left -= 1;
    sent.push(oid);
    return undefined;
  };

  let service = await startServiceProcess({ folder: data });
  onTestFinished(async () => void (await service.kill()));
  const { token } = service;
  const args = ['--remote', repository.path, '--lfs-url', store.url];
  expect(await runCommand(['workspace', 'add', 'game', ...args], { folder: data })).toMatchObject({ code: 0 });
  const triggered = await ask(service.baseUrl, 'POST', '/workspaces/game/sync', { token, json: { branch: 'main' } });
  expect(triggered.status).toBe(202);
  const sync = async () =>
    (await ask(service.baseUrl, 'GET', `/workspaces/game/syncs/${triggered.body.sync_id}`, { token })).body;
  const stored = async () => {
    const names = await readdir(join(data, 'lfs', 'game', 'objects'), { recursive: true }).catch(() => []);
    return names.filter((name) => basename(name).length === 64).length;
  };

  for (let run = 1; run <= restarts; run += 1) {
    await expect.poll(stored).toBe(run * objectsOfRun);
    expect(await sync()).toMatchObject({ status: 'running' });
    expect(await service.stop()).toBe(0);
    left = objectsOfRun;
    service = await startServiceProcess({ folder: data });
  }
  await expect.poll(sync).toMatchObject({ status: 'succeeded', missing_objects: 0 });
  expect([sent.length, new Set(sent).size]).toEqual([count, count]);
});
