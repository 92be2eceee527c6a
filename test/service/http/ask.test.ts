import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { expectProblem } from './expect-problem.ts';
import { locksOf, sharedService } from './shared-service.ts';

describe.each(databaseKinds)('a request of a person for a lock, on $name', (kind) => {
  const service = sharedService(kind);

  async function locked(path: string) {
    const workspace = await service.workspace(undefined, { desk_ttl: '4h' });
    const { secret: token } = await service.token({ name: 'bo', scopes: ['locks:write'] });
    const locks = locksOf(service, workspace, service.secret);
    await locks.take(path);
    const address = `/v1/workspaces/${workspace}/queue`;
    const ask = (json: object) => service.ask('POST', address, { token, json: { path, ...json } });
    const withdraw = () => service.ask('DELETE', `${address}?path=${path}`, { token });
    const queue = async () => (await service.ask('GET', address, { token })).body.queue;
    const lock = async () => (await locks.list(`?path=${path}`)).body.locks[0];
    return { ...locks, ask, withdraw, queue, lock };
  }

  test('is granted before jobs once the lock is free, with the default ttl and the note of the person', async () => {
    const { ask, queue, release, take, lock } = await locked('a');
    const { status, body } = await ask({ note: 'Lights' });
    const { ttl, ...asked } = body;
    expect([status, ttl, await queue()]).toEqual([201, '4h', [asked]]);
    expect(asked).toEqual({
      ...{ path: 'a', position: 1, owner: 'bo', origin: null, note: 'Lights', priority: 'normal' },
      since: expect.any(String),
    });
    await release('a');
    expectProblem(await take('a'), 'locked');
    await expect.poll(lock).toMatchObject({ owner: 'bo', note: 'Lights' });
    const { acquired_at, expires_at } = await lock();
    expect(Date.parse(expires_at) - Date.parse(acquired_at)).toBe(4 * 3_600_000);
    expect(await queue()).toEqual([]);
  });

  test('can be withdrawn, and then the path is free for everyone', async () => {
    const { ask, withdraw, release, take } = await locked('a');
    await ask({ ttl: '1h' });
    expect([(await withdraw()).status, (await withdraw()).status]).toEqual([204, 404]);
    await release('a');
    expect((await take('a')).status).toBe(201);
  });
});
