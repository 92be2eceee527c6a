import { randomInt } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { locksOf, sharedService, untilWaiting } from './shared-service.ts';

describe.each(databaseKinds)('a request of a person for a lock, on $name', (kind) => {
  const service = sharedService(kind);

  async function locked(path: string, owner = 'bo') {
    const workspace = await service.workspace();
    const { secret: token } = await service.token({ name: 'bo', owner, scopes: ['locks:write'] });
    const locks = locksOf(service, workspace, service.secret);
    await locks.take(path);
    const address = `/v1/workspaces/${workspace}/queue`;
    const ask = (json: object) => service.ask('POST', address, { token, json: { path, ...json } });
    const queue = async () =>
      (await service.ask('GET', `${address}?path=${encodeURIComponent(path)}`, { token })).body.queue;
    const waitAsBo = (key = 'key') => {
      const json = { path, type: 'exclusive', ttl: '1h' };
      const headers = { prefer: 'wait=30', 'idempotency-key': key };
      return service.ask('POST', `/v1/workspaces/${workspace}/locks`, { token, json, headers });
    };
    return { ...locks, ask, queue, waitAsBo };
  }

  test('is in the line', async () => {
    const { ask, queue } = await locked('a');
    const { status, body } = await ask({ note: 'Lights' });
    expect([status, body]).toMatchObject([201, { position: 1, owner: 'bo', origin: null, note: 'Lights' }]);
    expect(await queue()).toEqual([body]);
  });

  test('is in the line of the longest path, with many characters that JSON escapes, and of the longest owner', async () => {
    // Random, because PostgreSQL compresses what repeats itself.
    const characters = Array.from({ length: 356 }, () => String.fromCodePoint(randomInt(0x4e00, 0x9fff)));
    const path = characters
      .slice(100)
      .map((each) => `${each}"`)
      .join('');
    const owner = characters.slice(0, 100).join('');
    const { ask, queue, waitAsBo, release } = await locked(path, owner);
    expect((await ask({})).status).toBe(201);
    expect(await queue()).toMatchObject([{ path, owner }]);
    const waiting = waitAsBo('k'.repeat(255));
    await untilWaiting(service, service.secret, 1);
    await release(path);
    expect((await waiting).status).toBe(201);
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
});
