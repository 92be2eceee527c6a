import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { storePool } from '../../support/stored-pool.ts';
import { expectProblem } from './expect-problem.ts';
import { locksOf, sharedService } from './shared-service.ts';

describe.each(databaseKinds)('pools on $name', (kind) => {
  const service = sharedService(kind);

  test('only an owner of the current lock on an item sees the values of its secret properties', async () => {
    const workspace = await service.workspace();
    const seats = ['seats/1', 'secret:serial=A,host=b1', 'seats/2', 'secret:serial=B,host=b2'] as const;
    await storePool(service.storage, workspace, 'unity-pro', ...seats);
    const ada = await service.token({ name: 'ada', owner: 'ada', scopes: ['locks:write'] });
    const laptop = await service.token({ name: 'laptop', owner: 'ada', scopes: ['locks:read'] });
    const admin = await service.token({ name: 'root', scopes: ['admin'] });
    const serials = async (token: string) => {
      const { body } = await service.ask('GET', `/v1/workspaces/${workspace}/pools/unity-pro`, { token });
      const { body: all } = await service.ask('GET', `/v1/workspaces/${workspace}/pools`, { token });
      expect(all).toEqual({ pools: [body] });
      for (const { properties, secret } of body.items)
        expect([properties.host, secret]).toEqual([expect.stringMatching(/^b[12]$/), ['serial']]);
      return body.items.map(({ properties }: { properties: { serial?: string } }) => properties.serial);
    };
    const none = [undefined, undefined];
    const all = () => Promise.all([ada, laptop, admin].map(({ secret }) => serials(secret)));
    expect(await all()).toEqual([none, none, none]);
    const { take, release } = locksOf(service, workspace, ada.secret);
    await take('seats/2');
    expect(await all()).toEqual([[undefined, 'B'], [undefined, 'B'], none]);
    await locksOf(service, workspace, admin.secret).take('seats/1');
    expect(await all()).toEqual([
      [undefined, 'B'],
      [undefined, 'B'],
      ['A', undefined],
    ]);
    await release('seats/2');
    await take('seats/2', { ttl: '1s' });
    await expect.poll(() => serials(ada.secret)).toEqual(none);
  });

  test('an unknown pool is a problem that names the pools of the workspace', async () => {
    const workspace = await service.workspace();
    const get = (name: string) =>
      service.ask('GET', `/v1/workspaces/${workspace}/pools/${name}`, { token: service.secret });
    const expectDetail = async (name: string, known: string) =>
      expect(expectProblem(await get(name), 'not-found').detail).toBe(
        `The workspace "${workspace}" has no pool ${JSON.stringify(decodeURIComponent(name))}. ${known}.`,
      );
    await expectDetail('seats', 'It has none');
    await storePool(service.storage, workspace, 'macs', 'a');
    await storePool(service.storage, workspace, 'android-phones', 'b');
    for (const name of ['seats', 'Macs', 'a%00b', 'ma%2Fcs'])
      await expectDetail(name, 'Its pools are android-phones, macs');
  });

  test('a workspace has at most 100 pools', async () => {
    const workspace = await service.workspace();
    const add = (name: string) => storePool(service.storage, workspace, name, 'a');
    for (let index = 0; index < 100; index += 1) await add(`p${index}`);
    await expect(add('one-more')).rejects.toThrow('already has 100 pools. Remove one that is no longer used.');
  });

  test('a workspace takes its pools along when it is removed', async () => {
    const workspace = await service.workspace();
    await storePool(service.storage, workspace, 'macs', 'a');
    await service.storage.commit('global', (db) => db.deleteFrom('workspaces').where('id', '=', workspace).execute());
    const { read } = service.storage;
    expect(await read.selectFrom('pools').selectAll().where('workspace_id', '=', workspace).execute()).toEqual([]);
  });
});
