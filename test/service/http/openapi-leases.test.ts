import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { maxBodyBytes } from '../../../src/service/api/lease-schemas.ts';
import { databaseKinds } from '../../support/databases.ts';
import { storePool } from '../../support/stored-pool.ts';
import { askWrongly, describedOperation } from './described-operation.ts';
import { sharedService } from './shared-service.ts';

const path = '/v1/workspaces/{id}/leases/{lease}';

describe.each(databaseKinds)('leases on $name', (kind) => {
  const service = sharedService(kind);
  let limited: string;
  let other: string;
  let workspace: string;

  beforeAll(async () => {
    other = (await service.token({ name: 'other' })).secret;
    limited = (await service.token({ scopes: [] })).secret;
    workspace = await service.workspace();
  });

  const operation = (method: string, more = '') =>
    describedOperation(service, { method, path: `${path}${more}`, workspace, limited });
  const body = (...paths: readonly string[]) => ({ paths, type: 'exclusive', ttl: '1h' });
  const newLease = async (...paths: readonly string[]) => {
    const lease = randomUUID();
    await operation('PUT').ask({ lease }, { json: body(...paths) });
    return lease;
  };
  const release = (name: string) =>
    service.ask('DELETE', `/v1/workspaces/${workspace}/locks/${name}`, { token: service.secret });

  test('PUT returns exactly the described responses', async () => {
    const { ask, expectAllSeen } = operation('PUT');
    await askWrongly(ask, maxBodyBytes);
    const lease = randomUUID();
    const json = body('a', 'b');
    expect((await ask({ lease }, { json, headers: { prefer: 'wait=1' } })).status).toBe(201);
    expect((await ask({ lease }, { json })).status).toBe(200);
    expect((await ask({ lease }, { json: body('c') })).status).toBe(422);
    expect((await ask({ lease }, { json, token: other })).status).toBe(403);
    const waiting = { lease: randomUUID() };
    expect((await ask(waiting, { json, headers: { prefer: 'wait=0' } })).body.blocked).toHaveLength(2);
    expect((await ask(waiting, { json })).status).toBe(409);
    await release('a');
    expect((await ask({ lease }, { json })).body.locks).toMatchObject([{ path: 'b' }, { path: 'a', state: 'lost' }]);
    await storePool(service.storage, workspace, 'seats', 'seat/1');
    const ofPool = { pool: 'seats', type: 'exclusive', ttl: '1h' };
    expect((await ask({ lease: randomUUID() }, { json: ofPool })).body.locks).toMatchObject([{ path: 'seat/1' }]);
    await ask({ lease: randomUUID() }, { json: { ...ofPool, pool: 'no-such-pool' } });
    await release('b');
    expect((await ask({ lease }, { json })).body.lost).toHaveLength(2);
    await expectAllSeen();
  });

  test('GET returns exactly the described responses', async () => {
    const { ask, expectAllSeen } = operation('GET');
    const lease = await newLease('c', 'd');
    expect((await ask({ lease })).body.state).toBe('held');
    await ask({ lease }, { token: other });
    expect((await ask({ lease: randomUUID() })).status).toBe(404);
    expect((await ask({ lease: 'short' })).status).toBe(422);
    const waiting = { lease: randomUUID() };
    await operation('PUT').ask(waiting, { json: body('c'), headers: { prefer: 'wait=0' } });
    expect((await ask(waiting)).body.state).toBe('waiting');
    await operation('DELETE').ask(waiting);
    expect((await ask(waiting)).body.state).toBe('ended');
    await expectAllSeen();
  });

  test('POST renew returns exactly the described responses', async () => {
    const { ask, expectAllSeen } = operation('POST', '/renew');
    await askWrongly(ask);
    const json = { ttl: '2h' };
    const lease = await newLease('e', 'f');
    await release('e');
    expect((await ask({ lease }, { json })).body.lost).toMatchObject([{ path: 'e', reason: 'released' }]);
    await ask({ lease }, { json, token: other });
    await ask({ lease: randomUUID() }, { json });
    await release('f');
    expect((await ask({ lease }, { json })).body.lost).toHaveLength(2);
    await expectAllSeen();
  });

  test('DELETE returns exactly the described responses', async () => {
    const { ask, expectAllSeen } = operation('DELETE');
    const lease = await newLease('g');
    await ask({ lease }, { token: other });
    expect((await ask({ lease })).status).toBe(200);
    expect((await ask({ lease: randomUUID() })).status).toBe(204);
    expect((await ask({ lease: 'short' })).status).toBe(422);
    await ask({ id: 'nowhere' });
    await expectAllSeen();
  });
});
