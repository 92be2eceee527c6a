import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { createRepository } from '../support/git-repository.ts';
import { runCommand } from '../support/service-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { callsTo, incompressible, mebibyte, startService } from './service-calls.ts';
import { diskFor } from './small-disk.ts';

test('maintenance that does not fit on the disk does not fill it, and syncs and locks succeed', async (context) => {
  const disk = await diskFor(context, 12);
  const remote = createRepository(temporaryFolder());
  const folder = join(disk.folder, 'data');
  const service = await startService({ folder, through: disk.through, args: ['--min-free-disk', '0'] });
  const add = ['workspace', 'add', 'large', '--no-check', '--remote', pathToFileURL(remote.path).href];
  expect((await runCommand(add, { folder, through: disk.through })).code).toBe(0);
  const { sync } = callsTo({ ...service, workspace: 'large' });
  const packs = disk.path('data', 'mirrors', 'large.git', 'objects', 'pack');

  // More than 20 packs are joined, which temporarily takes the same space again.
  for (let index = 0; index <= 20; index += 1) {
    const branch = `branch-${index}`;
    remote.commit({ branch, files: { [branch]: incompressible(mebibyte / 4, branch) } });
    if (index === 20) disk.fill(3 * mebibyte);
    expect(await sync(branch)).toMatchObject({ status: 'succeeded', head: remote.head(branch) });
  }
  await service.command.logLine((line) => line.includes('"mirror maintenance failed"'));
  expect(readdirSync(packs).filter((file) => !file.startsWith('pack-'))).toEqual([]);
  for (let index = 0; index < 20; index += 1) {
    expect((await callsTo(service).lock(`${index}-${'x'.repeat(900)}`)).status).toBe(201);
  }

  // Files of killed maintenance take the room of a fetch. The next start removes them.
  await service.stop();
  disk.makeRoom();
  writeFileSync(join(packs, 'tmp_pack_killed'), incompressible(2 * mebibyte));
  const again = await startService({ folder, through: disk.through, args: ['--min-free-disk', '0'] });
  expect(readdirSync(packs)).not.toContain('tmp_pack_killed');
  disk.fill(3 * mebibyte);
  remote.commit({ branch: 'main', files: { three: incompressible(2 * mebibyte, 'three') } });
  const afterwards = callsTo({ ...again, workspace: 'large' });
  expect(await afterwards.sync()).toMatchObject({ status: 'succeeded', head: remote.head('main') });
});
