import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { expectProblem } from './expect-problem.ts';
import { locksOf, sharedService, untilWaiting } from './shared-service.ts';

describe.each(databaseKinds)('a request of a person for a lock, on $name', (kind) => {
  const service = sharedService(kind);

  async function locked(path: string) {
    const workspace = await service.workspace();
    const { secret: token } = await service.token({ name: 'bo', scopes: ['locks:write'] });
    const locks = locksOf(service, workspace, service.secret);
    await locks.take(path);
    const address = `/v1/workspaces/${workspace}/queue`;
    const ask = (json: object) => service.ask('POST', address, { token, json: { path, ...json } });
    const withdraw = () => service.ask('DELETE', `${address}?path=${path}`, { token });
    const queue = async () => (await service.ask('GET', `${address}?path=${path}`, { token })).body.queue;
    const lock = async () => (await locks.list(`?path=${path}`)).body.locks[0];
    const takeAsBo = () => locksOf(service, workspace, token).take(path);
    const waitAsBo = () => {
      const json = { path, type: 'exclusive', ttl: '1h' };
      return service.ask('POST', `/v1/workspaces/${workspace}/locks`, { token, json, headers: { prefer: 'wait=30' } });
    };
    return { ...locks, ask, withdraw, queue, lock, takeAsBo, waitAsBo };
  }

  test('keeps the path for the person once it is free, who then locks it, and gives nobody a lock', async () => {
    const { ask, queue, release, take, lock, takeAsBo } = await locked('a');
    const { status, body } = await ask({ note: 'Lights' });
    expect([status, await queue()]).toEqual([201, [body]]);
    expect(body).toEqual({
      ...{ path: 'a', position: 1, owner: 'bo', origin: null, note: 'Lights', priority: 'normal' },
      since: expect.any(String),
    });
    await release('a');
    const refused = await take('a');
    expectProblem(refused, 'locked');
    expect(refused.body.detail).toContain('bo is first in line');
    await expect.poll(queue).toMatchObject([{ owner: 'bo', kept_until: expect.any(String) }]);
    const [{ kept_until }] = await queue();
    expect(Date.parse(kept_until) - Date.now()).toBeGreaterThan(9 * 60_000);
    expect(await lock()).toBeUndefined();
    expect((await takeAsBo()).status).toBe(201);
    expect(await queue()).toEqual([]);
  });

  test('does not keep the path from a job of the same person that waits for it', async () => {
    const { ask, release, waitAsBo } = await locked('a');
    await ask({});
    const waiting = waitAsBo();
    await untilWaiting(service, service.secret, 1);
    const releasedAt = performance.now();
    await release('a');
    expect((await waiting).status).toBe(201);
    expect(performance.now() - releasedAt).toBeLessThan(15_000);
  });

  test('can be withdrawn, and then the path is free for everyone', async () => {
    const { ask, withdraw, release, take } = await locked('a');
    await ask({});
    expect([(await withdraw()).status, (await withdraw()).status]).toEqual([204, 404]);
    await release('a');
    expect((await take('a')).status).toBe(201);
  });
});
