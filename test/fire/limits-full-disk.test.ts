import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { createRepository } from '../support/git-repository.ts';
import { measured } from '../support/measured.ts';
import { runs } from '../support/runs.ts';
import { runCommand, startServiceProcess } from '../support/service-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { callsTo, incompressible, mebibyte, startService } from './service-calls.ts';
import { diskFor, type SmallDisk } from './small-disk.ts';

const refusals = 'writes rejected by a full disk';
const enough = runs(8, 100);

/** Otherwise, the service would consider a disk as small as this one full from the start. */
const nothingKeptFree = ['--min-free-disk', '0'];

/** The harsh variant: the log is on the full disk, too. */
const logOnDisk = (disk: SmallDisk): readonly string[] => [
  ...disk.through,
  'sh',
  '-c',
  'log=$1; shift; exec "$@" 2>>"$log"',
  'sh',
  join(disk.folder, 'service.log'),
];

test('refuses writes without partial results on a full disk, still serves reads, and recovers', async (context) => {
  const disk = await diskFor(context, 16);

  const remote = createRepository(temporaryFolder());
  remote.commit({ branch: 'main', files: { 'large.bin': incompressible(4 * mebibyte) } });
  const folder = join(disk.folder, 'data');
  const service = await startService({ folder, through: logOnDisk(disk), args: nothingKeptFree });
  const added = await runCommand(['workspace', 'add', 'large', '--remote', pathToFileURL(remote.path).href], {
    folder,
    through: disk.through,
  });
  expect([added.code, added.stderr]).toEqual([0, '']);
  const { lock, release, held, get } = callsTo(service);
  const { sync, triggerSync } = callsTo({ ...service, workspace: 'large' });
  expect((await lock('before')).status).toBe(201);

  // A fetch that does not fit: the database still has room.
  disk.fill(2 * mebibyte);
  const room = () => statfsSync(disk.path()).bavail;
  const roomBefore = room();
  const failed = await sync();
  expect([failed.status, failed.error]).toEqual(['failed', expect.stringMatching(/No space left on device|is full/)]);
  expect(failed.error).toMatch(/^git could not fetch the branch main of file:.*/);
  expect(readdirSync(disk.path('data', 'scratch'))).toEqual([]);
  const packs = disk.path('data', 'mirrors', 'large.git', 'objects', 'pack');
  expect(readdirSync(packs)).toEqual([]);
  // The database, the log and an empty mirror may have grown; the pack would be ten times larger.
  expect((roomBefore - room()) * statfsSync(disk.path()).bsize).toBeLessThan(mebibyte / 2);

  // There is no room at all.
  disk.fill();
  const granted = ['before'];
  const refused: string[] = [];
  for (let index = 0; index < 1_000 && refused.length < enough; index += 1) {
    const path = `${index}-${'x'.repeat(900)}`;
    const { status, body, headers } = await lock(path);
    if (status === 201) granted.push(path);
    else {
      refused.push(path);
      expect([status, body.type]).toEqual([503, 'urn:workspace-automation:problem:unavailable']);
      expect(body.detail).toMatch(/disk is full|disk reports an error/);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    disk.fill();
  }
  measured(refusals, refused.length, { exactly: runs(8, 100) });
  const wrong = 'locks lost or partially stored on a full disk';
  measured(wrong, new Set(await held()).symmetricDifference(new Set(granted)).size, { exactly: 0 });
  expect(await held()).toEqual(granted.toSorted());
  expect((await release('before')).status).toBe(503);
  expect(await held()).toContain('before');
  for (const path of ['/healthz', '/readyz']) expect((await get(path)).status).toBe(200);
  const trigger = await triggerSync();
  expect([trigger.status, trigger.body.detail]).toEqual([503, expect.stringMatching(/disk/)]);

  // There is room again, without a restart.
  disk.makeRoom();
  expect((await release('before')).status).toBe(204);
  for (const path of refused) expect((await lock(path)).status).toBe(201);
  expect(await held()).toEqual([...granted, ...refused].filter((path) => path !== 'before').sort());
  const succeeded = await sync();
  expect([succeeded.status, succeeded.head]).toEqual(['succeeded', remote.head('main')]);

  const lines = readFileSync(disk.path('service.log'), 'utf8').split('\n');
  const afterwards = lines.findLastIndex((line) => line.includes('"sync succeeded"'));
  expect(afterwards).toBeGreaterThan(0);
  // Lines written without room are lost, and may be cut off; all other lines are intact.
  const broken = lines.filter((line) => {
    if (line === '') return false;
    try {
      return JSON.parse(line) === undefined;
    } catch {
      return true;
    }
  });
  expect(broken.length).toBeLessThan(40);
  const start = '{"level":';
  for (const line of broken) expect(start.startsWith(line) || line.lastIndexOf(start) === 0, line).toBe(true);

  // The service stops in good order without room, and explains why it cannot start.
  disk.fill();
  expect(await service.stop()).toBe(0);
  disk.fill();
  const again = await runCommand(['serve', '--dev', '--port', '0'], { folder, through: disk.through });
  expect(again.code).toBe(1);
  expect(again.stderr).toMatch(/^workspace-service: .*(full|disk reports an error).*\n$/);
  disk.makeRoom();
  const third = await startServiceProcess({ folder, through: disk.through, args: nothingKeptFree });
  const inTheEnd = [...granted, ...refused].filter((path) => path !== 'before');
  const there = await callsTo(third).held();
  measured(wrong, new Set(there).symmetricDifference(new Set(inTheEnd)).size, { exactly: 0 });
  expect(there).toEqual(inTheEnd.toSorted());
  expect(await third.stop()).toBe(0);
});

test('refuses new work with too little free disk space, but renews and releases locks', async (context) => {
  const disk = await diskFor(context, 32);
  const args = ['--min-free-disk', '16MB'];
  const service = await startService({ folder: join(disk.folder, 'data'), through: disk.through, args });
  const { lock, release, held, triggerSync, metric } = callsTo(service);
  const taken = await lock('before');
  expect(taken.status).toBe(201);
  expect(await metric('workspace_disk_free_bytes')).toBeGreaterThan(16e6);

  disk.fill(8 * mebibyte);
  await expect.poll(async () => (await lock(randomUUID())).status, { timeout: 10_000 }).toBe(503);
  const [refused, trigger] = [await lock('after'), await triggerSync()];
  for (const { status, body, headers } of [refused, trigger]) {
    expect([status, headers.get('retry-after')]).toEqual([503, '10']);
    expect(body.detail).toMatch(/^The disk of the service has less than 16 MB free, so it accepts no new work\./);
  }
  expect((await lock('before', { 'if-match': taken.headers.get('etag') ?? '' })).status).toBe(200);
  expect((await release('before')).status).toBe(204);
  expect(await metric('workspace_disk_free_bytes')).toBeLessThan(16e6);

  disk.makeRoom();
  await expect.poll(async () => (await lock('after')).status, { timeout: 10_000 }).toBe(201);
  expect(await held()).toContain('after');
  expect(await held()).not.toContain('before');
});
