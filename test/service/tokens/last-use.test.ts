import { describe, expect, onTestFinished, test } from 'vitest';
import { timeOf } from '../../../src/service/storage/timestamp.ts';
import { createLastUse } from '../../../src/service/tokens/last-use.ts';
import { createToken, listTokens } from '../../../src/service/tokens/tokens.ts';
import { databaseKinds } from '../../support/databases.ts';
import { operator } from '../../support/operator.ts';
import { startTestService } from '../../support/running-service.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { changeRows, findRows } from '../../support/stored-rows.ts';
import { serveApp } from '../http/described-app.ts';

const newToken = { name: 'ci', scopes: ['sync'], workspaces: null, lifetime: null } as const;

/** Tolerance in milliseconds for rounding between two readings of the database clock. */
const slack = 5;

describe.each(databaseKinds)('the last use of tokens on $name', (kind) => {
  const storage = sharedStorage(kind);

  const makeTokens = (count: number): Promise<string[]> =>
    storage.commit('global', async (db) => {
      const ids: string[] = [];
      while (ids.length < count) ids.push((await createToken(db, operator, newToken)).token.id);
      return ids;
    });
  const databaseTime = () => timeOf(storage.read);
  const lastUses = async () =>
    new Map((await listTokens(storage)).map(({ id, last_used_at }) => [id, last_used_at && Date.parse(last_used_at)]));

  test.each([
    ['the first', [0, 1]],
    ['the last', [1, 0]],
  ])('is the time of the latest use on any instance, if %s of them writes first', async (_, order) => {
    const [used = '', unused = ''] = await makeTokens(2);
    let clock = 0;
    const instances = [0, 1].map(() => createLastUse(storage, () => clock));
    for (const instance of [0, 1, 0, 1]) {
      clock += 5_000;
      instances[instance]?.note(used);
    }
    clock += 7_000;
    const began = await databaseTime();
    for (const instance of order) await instances[instance]?.write();
    const spent = (await databaseTime()) - began;
    const shown = await lastUses();
    expect(shown.get(unused)).toBeNull();
    expect(shown.get(used)).toBeGreaterThanOrEqual(began - 7_000 - slack);
    expect(shown.get(used)).toBeLessThanOrEqual(began - 7_000 + spent + slack);
  });

  test('is not noted for a run, whose tokens share an id that no row has', async () => {
    const noted: string[] = [];
    const app = await serveApp({ noteUse: (id) => noted.push(id) });
    onTestFinished(app.stop);
    const secrets = [await app.token('locks:read'), await app.token('locks:read')];
    const [{ id = '' } = {}, of = { id: '' }] = await findRows(app.storage, 'tokens');
    await changeRows(app.storage, 'tokens', { run_id: 'run_1' }, { id: of.id });
    for (const token of secrets) expect((await app.ask('GET', '/metrics', { token })).status).toBe(200);
    expect(noted).toEqual([id]);
  });

  test('is written on the next attempt after a failure, unless a later use was noted meanwhile', async () => {
    const [one = '', two = ''] = await makeTokens(2);
    let clock = 0;
    let isFull = true;
    const failing = {
      commit: async <T>(...change: Parameters<typeof storage.commit<T>>) => {
        if (!isFull) return storage.commit(...change);
        lastUse.note(two);
        throw new Error('The disk is full.');
      },
    };
    const lastUse = createLastUse(failing, () => clock);
    lastUse.note(one);
    lastUse.note(two);
    clock += 500_000;
    await expect(lastUse.write()).rejects.toThrow('The disk is full.');
    isFull = false;
    const before = await databaseTime();
    await lastUse.write();
    const uses = await lastUses();
    expect(uses.get(one)).toBeLessThan(before - 400_000);
    expect(uses.get(two)).toBeGreaterThan(before - 100_000);
  });

  test('is stored when a service stops, also for refused requests, but not for wrong tokens', async () => {
    let remove = async (): Promise<void> => undefined;
    const service = await startTestService({
      ...kind,
      async open() {
        const opened = await kind.open();
        remove = opened.remove;
        return { storage: opened.storage, remove: async () => undefined };
      },
    });
    const [ends, lacks, rests] = [await service.token(), await service.token({ scopes: [] }), await service.token()];
    const before = Date.now();
    await service.ask('GET', '/v1/workspaces', { token: ends.secret });
    expect((await service.ask('GET', '/v1/workspaces/w/locks', { token: lacks.secret })).status).toBe(403);
    expect((await service.ask('GET', '/v1/workspaces', { token: `${rests.secret}x` })).status).toBe(401);
    await service.stop();
    const tokens = new Map((await listTokens(service.storage)).map((token) => [token.id, token]));
    await remove();
    for (const { id } of [ends, lacks]) {
      expect(Date.parse(tokens.get(id)?.last_used_at ?? '')).toBeGreaterThanOrEqual(before - 1_000);
    }
    expect(tokens.get(rests.id)?.last_used_at).toBeNull();
  });
});
