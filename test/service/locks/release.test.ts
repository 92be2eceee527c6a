import { beforeEach, describe, expect, test } from 'vitest';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import { type ReleaseRequest, releaseLocks } from '../../../src/service/locks/change-lock.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { valueIn } from '../../support/value-in.ts';
import { bearerOf, takeIn } from './taken-locks.ts';

describe.each(databaseKinds)('locks that are released together on $name', (kind) => {
  const storage = sharedStorage(kind, { workspaces: ['game'] });

  const take = (...paths: readonly string[]) => storage.commit('global', (db) => takeIn(db, paths));
  const back = (path: string, by = 'ada', force = false, matches = true): ReleaseRequest => ({
    workspace: 'game',
    path: valueIn(parseLockPath(path)),
    match: () => matches,
    bearer: { ...bearerOf(by), scopes: by === 'root' ? ['locks:admin'] : ['locks:write'] },
    actor: { name: by, tokenId: `tok_${by}`, address: null },
    force,
  });
  const release = (...requests: readonly ReleaseRequest[]) =>
    storage.commit('global', (db) => releaseLocks(db, requests));
  const left = async (): Promise<readonly string[]> =>
    (await storage.read.selectFrom('locks').select('path').orderBy('path').execute()).map(({ path }) => path);
  const audited = async (): Promise<number> =>
    (await storage.read.selectFrom('audit').select('action').where('action', '=', 'lock.force-released').execute())
      .length;

  beforeEach(() => storage.commit('global', (db) => db.deleteFrom('locks').execute()));

  test('are each decided separately, in the order of the requests, and other locks stay', async () => {
    await take('a', 'b', 'c', 'd', 'e');
    const before = await audited();
    const releases = await release(
      back('a', 'bob'),
      back('a', 'bob', true),
      back('a'),
      back('a'),
      back('b', 'ada', false, false),
      back('c', 'root', true),
      back('z'),
      back('e'),
    );
    expect(releases.map((release) => (release.kind === 'refused' ? release.problem : release.kind))).toEqual([
      'lock-of-another-owner',
      'insufficient-scope',
      'released',
      'not-found',
      'lock-changed',
      'released',
      'not-found',
      'released',
    ]);
    expect(await left()).toEqual(['b', 'd']);
    expect(await audited()).toBe(before + 1);
  });
});
