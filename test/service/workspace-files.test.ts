import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createGit } from '../../src/service/git/git.ts';
import { removeOrphans } from '../../src/service/workspace-files.ts';
import { sqlite } from '../support/databases.ts';
import { startTestService } from '../support/running-service.ts';
import { ownerOf, storeObject } from './lfs/stored-object.ts';

test('the files of removed workspaces are removed while the service runs', async () => {
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const service = await startTestService(sqlite);
  onTestFinished(() => service.stop());
  const kept = await ownerOf(service, await service.workspace());
  const mirrors = join(service.dataFolder, 'mirrors');
  for (const id of ['removed', kept.id]) {
    await mkdir(join(mirrors, `${id}.git`), { recursive: true });
    await writeFile(join(mirrors, `${id}.git`, 'HEAD'), 'ref: refs/heads/main\n');
  }
  for (const workspace of [kept, { ...kept, created_at: 1 }, { id: 'removed', created_at: 1 }]) {
    await storeObject(service.dataFolder, workspace, Buffer.from('hero'));
  }
  vi.advanceTimersByTime(600_000);
  await expect.poll(() => readdir(mirrors)).toEqual([`${kept.id}.git`]);
  await expect.poll(() => readdir(join(service.dataFolder, 'lfs'))).toEqual([`${kept.id}@${kept.created_at}`]);
});

test('a stop does not wait until the files of all removed workspaces are gone', async () => {
  const service = await startTestService(sqlite);
  onTestFinished(() => service.stop());
  await service.workspace();
  const stopping = new AbortController();
  const removed: string[] = [];
  const git = {
    ...createGit({ dataFolder: service.dataFolder, allowFile: false, environment: {} }),
    listMirrors: async () => ['first', 'second'],
    async removeMirror(id: string) {
      removed.push(id);
      stopping.abort();
    },
  };
  const { storage, dataFolder } = service;
  await removeOrphans({ storage, git, dataFolder, stopping: stopping.signal, log: pino({ level: 'silent' }) });
  expect(removed).toEqual(['first']);
});
