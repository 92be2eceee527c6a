import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createRepository } from '../../support/git-repository.ts';
import { leaveOut } from '../../support/left-out.ts';
import { nameOf, pointerTo, startLfsStore } from '../../support/lfs-store.ts';
import { ask } from '../../support/running-service.ts';
import { runCommand, startServiceProcess } from '../../support/service-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { whyNoClient } from '../lfs/desk.ts';

const count = 1_000;

test('a kill -9 during a sync of 1,000 LFS objects leaves only complete objects, and the sync continues', async (context) => {
  if (whyNoClient !== undefined) leaveOut(context, whyNoClient);
  const folder = temporaryFolder();
  const data = join(folder, 'data');
  const repository = createRepository(folder);
  const store = await startLfsStore({ public: true });
  onTestFinished(store.close);
  const contents = Array.from({ length: count }, (_, index) => randomBytes(10_000 + index));
  const pointers = contents.map(
    (content, index) => [`Content/${index}.uasset`, pointerTo(store.put(content))] as const,
  );
  repository.commit({ branch: 'main', files: Object.fromEntries(pointers) });

  const first = await startServiceProcess({ folder: data });
  const args = ['--remote', repository.path, '--lfs-url', store.url];
  expect(await runCommand(['workspace', 'add', 'game', ...args], { folder: data })).toMatchObject({ code: 0 });
  store.behaviour.download = (_request, { oid, size }) => {
    if (store.downloads.length < count / 3) return undefined;
    // Half of each object that is being sent when the service dies.
    return (response) => {
      response.writeHead(200, { 'content-length': size });
      response.write(store.objects.get(oid)?.subarray(0, size / 2));
    };
  };
  const { token } = first;
  const triggered = await ask(first.baseUrl, 'POST', '/workspaces/game/sync', { token, json: { branch: 'main' } });
  expect(triggered.status).toBe(202);
  const objects = join(data, 'lfs', 'game', 'objects');
  const stored = async () =>
    (await readdir(objects, { recursive: true }).catch(() => [])).filter((name) => basename(name).length === 64);
  await expect.poll(async () => (await stored()).length).toBeGreaterThan(count / 4);
  expect(await first.kill()).toBe('SIGKILL');

  const there = await stored();
  expect(there.length).toBeLessThan(count / 3);
  for (const name of there) expect(nameOf(await readFile(join(objects, name))).oid).toBe(basename(name));

  store.behaviour.download = undefined;
  const asked = store.downloads.length;
  const second = await startServiceProcess({ folder: data });
  onTestFinished(async () => void (await second.stop()));
  const status = async () =>
    (await ask(second.baseUrl, 'GET', `/workspaces/game/syncs/${triggered.body.sync_id}`, { token })).body;
  await expect.poll(async () => (await status()).status, { timeout: 60_000 }).toBe('succeeded');
  expect(await status()).toMatchObject({ missing_objects: 0 });
  for (const content of contents) {
    const { oid } = nameOf(content);
    expect(content.equals(await readFile(join(objects, oid.slice(0, 2), oid.slice(2, 4), oid)))).toBe(true);
  }
  const further = store.downloads.slice(asked);
  expect(further.length).toBeLessThanOrEqual(count - there.length);
});
