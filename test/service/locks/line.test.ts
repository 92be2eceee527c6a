import { describe, expect, test } from 'vitest';
import { joinLines } from '../../../src/service/locks/line.ts';
import { listQueue } from '../../../src/service/locks/read-queue.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { changeRows } from '../../support/stored-rows.ts';

describe.each(databaseKinds)('a place in line, on $name', (kind) => {
  const workspace = 'game';
  const storage = sharedStorage(kind, { workspaces: [workspace] });

  async function join(placeId: string): Promise<boolean | undefined> {
    const place = { workspace, path: 'a', askedPath: 'a', tokenId: 'tok_1', owner: placeId, origin: null, note: null };
    const [joined] = await storage.commit({ workspace }, (db) =>
      joinLines(db, storage.now, [{ ...place, placeId, urgency: 3, presentMs: 60_000 }]),
    );
    return joined?.isNew;
  }

  test('goes to those who come first, and is kept for a minute after it was last asked for', async () => {
    const queue = async () => (await listQueue(storage, { workspace })).map(({ owner }) => owner);
    for (const id of ['b', 'c', 'a']) expect(await join(id)).toBe(true);
    expect(await queue()).toEqual(['b', 'c', 'a']);
    await changeRows(storage, 'lock_places', { asked_at: Date.now() - 55_000 }, { owner: 'b' });
    expect([await join('b'), await queue()]).toEqual([false, ['b', 'c', 'a']]);
    await changeRows(storage, 'lock_places', { asked_at: Date.now() - 61_000 }, { owner: 'b' });
    expect([await join('b'), await queue()]).toEqual([true, ['c', 'a', 'b']]);
  });
});
