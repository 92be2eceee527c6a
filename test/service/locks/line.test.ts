import { describe, expect, test } from 'vitest';
import { listQueue, lookAgainMs } from '../../../src/service/locks/line.ts';
import { joinLine, removeOldWaits } from '../../../src/service/locks/waits.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { waitRequest } from '../../support/waits.ts';

describe.each(databaseKinds)('a place in line, on $name', (kind) => {
  const workspace = 'game';
  const storage = sharedStorage(kind, { workspaces: [workspace] });

  /** In one transaction, because the order of transactions within a millisecond is open. */
  const join = (...ids: readonly string[]) =>
    storage.commit({ workspace }, (db) =>
      joinLine(
        db,
        storage.now,
        ids.map((id) => waitRequest(id)),
      ),
    );

  test('goes to those who come first, and is kept for a minute after it was last asked for', async () => {
    const queue = async () => (await listQueue(storage, { workspace })).map(({ owner }) => owner);
    await join('b', 'c', 'a');
    expect(await queue()).toEqual(['b', 'c', 'a']);
    const askedAgo = (ms: number) => ({ asked_at: Date.now() - ms, present_until: Date.now() - ms });
    await changeRows(storage, 'waits', askedAgo(55_000), { owner: 'b' });
    await removeOldWaits(storage);
    await join('b');
    expect(await queue()).toEqual(['b', 'c', 'a']);
    await changeRows(storage, 'waits', askedAgo(61_000), { owner: 'b' });
    await join('b');
    expect(await queue()).toEqual(['c', 'a', 'b']);
  });

  test('is listed with its priority', async () => {
    const waits = ([1, 3, 5] as const).map((urgency) => waitRequest(`u${urgency}`, { urgency, paths: ['b'] }));
    await storage.commit({ workspace }, (db) => joinLine(db, storage.now, waits));
    const queue = (await listQueue(storage, { workspace })).filter(({ path }) => path === 'b');
    expect(queue.map(({ priority }) => priority)).toEqual(['high', 'normal', 'low']);
  });
});

test('the others look again when a client may have left, and soon at the latest, but leave a person the whole time', () => {
  const next = { id: 'a', rank: 1, wanted: 1, free: [], keeps: false, owner: 'ada', origin: null };
  const waits = [10_000, 100, 0].map((presentMs) => lookAgainMs({ ...next, kind: 'request', presentMs }));
  expect(waits).toEqual([300, 100, 1]);
  expect(lookAgainMs({ ...next, kind: 'ask', presentMs: 600_000 })).toBe(600_000);
});
