import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { sqlite } from '../support/databases.ts';
import { startTestService } from '../support/running-service.ts';
import { ownerOf, storeObject } from './lfs/stored-object.ts';

test('the files of workspaces that another instance removed are removed while the service runs', async () => {
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
  vi.advanceTimersByTime(6 * 3_600_000);
  await expect.poll(() => readdir(mirrors)).toEqual([`${kept.id}.git`]);
  await expect.poll(() => readdir(join(service.dataFolder, 'lfs'))).toEqual([`${kept.id}@${kept.created_at}`]);
});
