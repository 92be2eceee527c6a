import { randomBytes } from 'node:crypto';
import { PassThrough, Readable, Writable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { restoreBackup } from '../../../src/service/backup/restore.ts';
import { format, tableKeys, writeBackup } from '../../../src/service/backup/write.ts';
import { schemaVersion } from '../../../src/service/storage/schema.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { type DatabaseKind, databaseKinds, sqlite } from '../../support/databases.ts';
import { storeLocks, storeWorkspace } from '../../support/stored-rows.ts';
import { grantedLock, takeIn } from '../locks/taken-locks.ts';
import { everyTable, rowsOf, storeEveryTable } from './every-table.ts';

async function open(kind: DatabaseKind): Promise<Storage> {
  const { storage, remove } = await kind.open();
  onTestFinished(remove);
  return storage;
}

/** Opens a database with rows in every table. */
async function openFull(kind: DatabaseKind): Promise<Storage> {
  const storage = await open(kind);
  await storeEveryTable(storage);
  return storage;
}

async function backupOf(storage: Storage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const output = new Writable({ write: (chunk, _, done) => done(void chunks.push(chunk)) });
  await writeBackup(storage, '1.2.3', output);
  return Buffer.concat(chunks);
}

const actor = { name: 'operator:test', tokenId: null, address: null };

const restore = (storage: Storage, backup: Buffer, options: { readonly replace?: boolean } = {}) =>
  restoreBackup(storage, Readable.from([backup]), { replace: false, actor, ...options });

async function fenceOfNewLock(storage: Storage, path: string, workspace = 'game'): Promise<number> {
  const [decision] = await storage.commit({ workspace }, (db) => takeIn(db, [path], { workspace }));
  return grantedLock(decision).fence;
}

const pairs = databaseKinds.flatMap((from) => databaseKinds.map((to) => ({ from, to })));

describe.each(pairs)('restore from $from.name to $to.name', ({ from, to }) => {
  test('keeps the rows of every table, but ends sessions and sign-in links', async () => {
    const [source, target] = [await openFull(from), await open(to)];
    const before = await rowsOf(source);
    expect(Object.keys(before).toSorted()).toEqual(tableKeys.map(([table]) => table).toSorted());

    const restored = await restore(target, await backupOf(source));
    const counts = Object.entries(everyTable).map(([table, { length }]) => [table, length]);
    expect(restored).toMatchObject({
      header: { service: '1.2.3', schema: schemaVersion },
      rows: Object.fromEntries(counts),
      activeLocks: 4,
    });
    const { audit, ...after } = await rowsOf(target);
    const { audit: recorded, ...others } = before;
    const raised = everyTable.fences.map((fence) => ({ ...fence, value: fence.value + restored.fencesRaisedBy }));
    expect(after).toEqual({
      ...others,
      sessions: [],
      sign_in_links: [],
      fences: raised,
    });
    // The database continues its sequence.
    expect(audit).toHaveLength(3);
    expect(audit).toEqual(expect.arrayContaining([...recorded]));
    expect(audit).toContainEqual(
      expect.objectContaining({ sequence: 71, actor: 'operator:test', action: 'backup.restored' }),
    );
    const deliveries = everyTable.deliveries.slice(0, 1).map(({ sequence: _, ...rest }) => ({ ...rest, id: 'next' }));
    const next = await target.commit('global', (db) =>
      db.insertInto('deliveries').values(deliveries).returning('sequence').execute(),
    );
    expect(next).toEqual([{ sequence: 41 }]);
  });

  test('gives new locks a higher fence than any lock before the restore', async () => {
    const [source, target] = [await openFull(from), await open(to)];
    const backup = await backupOf(source);
    await storeWorkspace(source, { id: 'later' });
    const given = [await fenceOfNewLock(source, 'x'), await fenceOfNewLock(source, 'y')];
    const givenLater = await fenceOfNewLock(source, 'x', 'later');
    await restore(target, backup);
    await storeWorkspace(target, { id: 'later' });
    expect(await fenceOfNewLock(target, 'x')).toBeGreaterThan(Math.max(...given));
    expect(await fenceOfNewLock(target, 'x', 'later')).toBeGreaterThan(givenLater);
  });
});

describe.each(databaseKinds)('restore on $name', (kind) => {
  test('replaces a database with data only on request, and does not reuse its fences', async () => {
    const [source, target] = [await openFull(kind), await open(sqlite)];
    const backup = await backupOf(target);
    const before = await rowsOf(source);
    await expect(restore(source, backup)).rejects.toThrow(
      'The database is not empty. Restore into an empty one, or add --replace to remove its data, including the audit log.',
    );
    expect(await rowsOf(source)).toEqual(before);
    await restore(source, backup, { replace: true });
    const after = await rowsOf(source);
    expect(after).toMatchObject({ workspaces: [], tokens: [], audit: [{ action: 'backup.restored' }] });
    expect(after.fences).toContainEqual({ workspace_id: 'game', value: 4_503_599_627_370_496 });
  });

  test('raises the fences by more the older the backup is', async () => {
    const storage = await openFull(kind);
    const day = 86_400_000;
    const lines = gunzipSync(await backupOf(storage)).toString();
    const old = lines.replace(/"taken_at":(\d+)/, (_, time) => `"taken_at":${Number(time) - day}`);
    const { fencesRaisedBy } = await restore(storage, gzipSync(old), { replace: true });
    expect(fencesRaisedBy).toBeGreaterThan(100 * day);
  });

  test('changes nothing if a backup cannot be restored to its end', async () => {
    const storage = await openFull(kind);
    const before = await rowsOf(storage);
    const backup = await backupOf(storage);
    const text = gunzipSync(backup).toString();
    const edited = (from: string | RegExp, to: string) => gzipSync(text.replace(from, to));
    const flipped = Buffer.from(backup);
    flipped.writeUInt8(flipped.readUInt8(backup.length - 5) ^ 1, backup.length - 5);
    const cases = [
      [backup.subarray(0, -20), 'its end is missing'],
      [edited('["signing_keys"', '["spells"'), 'one of its lines is not an entry of a backup'],
      [edited('{"name":"lfs"', '{"name":{}'), 'one of its lines is not an entry of a backup'],
      [edited('{"name":"lfs"', '{"nome":"lfs"'), 'the database does not accept rows of the table "signing_keys"'],
      [edited(/\n$/, '\n['), 'one of its lines is not an entry of a backup'],
      [edited('"c2VjcmV0"', 'null'), 'the database does not accept rows of the table "signing_keys"'],
      [flipped, 'its checksum or its compression is wrong'],
      [edited(/"game"/g, '"../../evil"'), 'no workspace can have the id "../../evil"'],
      [edited('"schema":', '"schema":1'), 'Restore it with version 1.2.3, which wrote it'],
      [gzipSync(''), 'The file is not a backup that this version of workspace-service can read'],
      [edited(format, 'another format'), 'The file is not a backup that this version of workspace-service can read'],
      [Buffer.from('text'), 'The file is not a backup that this version of workspace-service can read'],
    ] as const;
    for (const [broken, reason] of cases) {
      await expect(restore(storage, broken, { replace: true }), reason).rejects.toThrow(reason);
      expect(await rowsOf(storage), reason).toEqual(before);
    }
  });
});

test.each(databaseKinds)('a backup taken on $name during acquisitions has no fence above its counter', async (kind) => {
  const [source, target] = [await open(kind), await open(sqlite)];
  await storeWorkspace(source, { id: 'game' });
  // Compressible data would be written all at once at the end.
  const note = () => randomBytes(500).toString('hex');
  const held = Array.from({ length: 300 }, (_, n) => ({
    workspace_id: 'game',
    path: `held/${n}`,
    fence: 0,
    note: note(),
  }));
  await storeLocks(source, ...held);
  let [taken, isDone] = [0, false];
  // The reader waits for another lock after each piece. The locks come after the fences.
  const output = new PassThrough({ highWaterMark: 1 });
  const chunks: Buffer[] = [];
  const taking = (async () => {
    while (!isDone) {
      await fenceOfNewLock(source, `taken/${taken}`);
      taken += 1;
    }
  })();
  const reading = (async () => {
    for await (const chunk of output) {
      const before = taken;
      chunks.push(chunk);
      await expect.poll(() => taken).toBeGreaterThan(before);
    }
  })();
  const { rows } = await writeBackup(source, '1.2.3', output);
  isDone = true;
  await Promise.all([taking, reading]);
  expect(taken).toBeGreaterThan((rows['locks'] ?? 0) - held.length);

  const { fencesRaisedBy } = await restore(target, Buffer.concat(chunks));
  const { rows: found } = await sql<{ highest: number; counter: number }>`
      select max(fence) as highest, (select value from fences where workspace_id = 'game') as counter from locks
    `.execute(target.read);
  expect(found[0]?.highest).toBe(Math.max(0, (found[0]?.counter ?? 0) - fencesRaisedBy));
});
