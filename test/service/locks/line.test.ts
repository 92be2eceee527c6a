import { describe, expect, test } from 'vitest';
import { joinLines } from '../../../src/service/locks/line.ts';
import { listQueue } from '../../../src/service/locks/read-queue.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { changeRows } from '../../support/stored-rows.ts';

describe.each(databaseKinds)('a place in line, on $name', (kind) => {
  const workspace = 'game';
  const storage = sharedStorage(kind, { workspaces: [workspace] });

  /** In one transaction, because the order of transactions within a millisecond is open. */
  async function join(...placeIds: readonly string[]): Promise<readonly boolean[]> {
    const place = { workspace, path: 'a', askedPath: 'a', tokenId: 'tok_1', origin: null, note: null };
    const places = placeIds.map((id) => ({ ...place, owner: id, placeId: id, urgency: 3 as const, presentMs: 60_000 }));
    const joined = await storage.commit({ workspace }, (db) => joinLines(db, storage.now, places));
    return joined.map(({ isNew }) => isNew);
  }

  test('goes to those who come first, and is kept for a minute after it was last asked for', async () => {
    const queue = async () => (await listQueue(storage, { workspace })).map(({ owner }) => owner);
    expect(await join('b', 'c', 'a')).toEqual([true, true, true]);
    expect(await queue()).toEqual(['b', 'c', 'a']);
    await changeRows(storage, 'lock_places', { asked_at: Date.now() - 55_000 }, { owner: 'b' });
    expect([await join('b'), await queue()]).toEqual([[false], ['b', 'c', 'a']]);
    await changeRows(storage, 'lock_places', { asked_at: Date.now() - 61_000 }, { owner: 'b' });
    expect([await join('b'), await queue()]).toEqual([[true], ['c', 'a', 'b']]);
  });
});
