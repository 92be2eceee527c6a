import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { measured } from '../soak/measured.ts';
import { leaveOut } from '../support/left-out.ts';
import { runCommand } from '../support/service-process.ts';
import { callsTo, diskFor, startService } from './service-calls.ts';
import { memoryDisk, mountSmallDisk } from './small-disk.ts';

test('the service does not start on a read-only disk, and explains why', async (context) => {
  const disk = await diskFor(context, memoryDisk(4));
  await disk.run('mkdir', join(disk.folder, 'empty'));
  await disk.run('mount', '-o', 'remount,ro', disk.folder);
  for (const name of ['empty', 'none']) {
    const folder = join(disk.folder, name);
    const { code, stderr } = await runCommand(['serve', '--dev', '--port', '0'], {
      folder,
      through: disk.through,
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^workspace-service: The data folder ".*" cannot be used: the disk is read-only\. .*\n$/);
  }
});

test('syncs fail while the disk of the mirrors is read-only, and recover; locks keep working', async (context) => {
  // The system makes no disk read-only with files open for writing, and the database keeps its files open.
  const disk = await diskFor(
    context,
    mountSmallDisk(`
    mount -t tmpfs -o size=8m,mode=700 tmpfs "$1"
    mkdir "$1/data" "$1/databases"
    mount -t tmpfs -o size=8m,mode=700 tmpfs "$1/data"
    for name in service instance; do ln -s "../databases/$name.db" "$1/data/$name.db"; done`),
  );
  const service = await startService({
    folder: join(disk.folder, 'data'),
    through: disk.through,
    args: ['--min-free-disk', '0'],
  });
  const { lock, release, sync } = callsTo(service);

  await disk.run('mount', '-o', 'remount,ro', join(disk.folder, 'data'));
  expect(await sync()).toMatchObject({
    status: 'failed',
    error: expect.stringMatching(/^git could not .*: the disk is read-only\.$/),
  });
  expect((await lock('meanwhile')).status).toBe(201);
  expect((await release('meanwhile')).status).toBe(204);
  await disk.run('mount', '-o', 'remount,rw', join(disk.folder, 'data'));
  expect(await sync()).toMatchObject({ status: 'succeeded', error: null });
  expect(readdirSync(disk.path('data', 'scratch'))).toEqual([]);
  expect(service.command.stderr()).not.toContain('"level":"error"');
});

test('writes get 503 after a disk error, reads continue, and a restart loses no lock', async (context) => {
  if (process.env['SOAK'] !== '1') leaveOut(context, 'It is part of `npm run test:soak`.');
  const disk = await diskFor(
    context,
    mountSmallDisk(`
    truncate --size=24M "$1.image"
    mkfs.ext4 -q -F "$1.image"
    mount -o loop,errors=remount-ro "$1.image" "$1"`),
  );
  const folder = join(disk.folder, 'data');
  const service = await startService({ folder, through: disk.through, args: ['--min-free-disk', '0'] });
  const { lock, release, held, triggerSync, get } = callsTo(service);
  const before = Array.from({ length: 20 }, (_, index) => `before-${String(index).padStart(2, '0')}`);
  for (const path of before) expect((await lock(path)).status).toBe(201);

  // As after a disk error (ext4(5), errors=remount-ro).
  await disk.run('mount', '-o', 'remount,abort', disk.folder);
  for (const response of [await lock('after'), await lock('after'), await release('before-00'), await triggerSync()]) {
    expect([response.status, response.body.detail]).toEqual([
      503,
      expect.stringMatching(/read-only|disk reports an error/),
    ]);
  }
  expect(await held()).toEqual(before);
  for (const path of ['/healthz', '/readyz']) expect((await get(path)).status).toBe(200);
  expect(await service.stop()).toBe(0);

  await disk.run('umount', disk.folder);
  await disk.run('mount', '-o', 'loop', `${disk.folder}.image`, disk.folder);
  const again = await startService({ folder, through: disk.through, args: ['--min-free-disk', '0'] });
  const there = await callsTo(again).held();
  measured('locks that remain on a disk that became read-only', there.length);
  expect(there).toEqual(before);
  expect((await callsTo(again).lock('after')).status).toBe(201);
});
