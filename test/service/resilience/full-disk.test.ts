import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { sqlite } from '../../support/databases.ts';
import { startTestService } from '../../support/running-service.ts';
import { locksOf } from '../http/shared-service.ts';

test('writes get 503 with a reason on a full disk, reads continue, and writes succeed later', async () => {
  const service = await startTestService(sqlite);
  onTestFinished(service.stop);
  const { secret: token } = await service.token();
  const { take, paths } = locksOf(service, await service.workspace(), token);
  // SQLite's own limit on the file size has the same effect as a full disk: SQLITE_FULL.
  const room = (pages: number) =>
    service.storage.commit('global', (db) => sql.raw(`pragma max_page_count = ${pages}`).execute(db));
  const long = (index: number) => `${index}-${'x'.repeat(900)}`;
  const held = () => paths('?limit=1000');

  await room(1);
  const granted: string[] = [];
  const refused = [];
  for (let index = 0; index < 20; index += 1) {
    const reply = await take(long(index));
    if (reply.status === 201) granted.push(long(index));
    else refused.push(reply);
  }
  expect(refused.length).toBeGreaterThan(0);
  for (const { status, body, headers } of refused) {
    expect([status, body.type]).toEqual([503, 'urn:workspace-automation:problem:unavailable']);
    expect(body.detail).toContain('its disk is full');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect((await held()).sort()).toEqual([...granted].sort());
  await room(1_000_000);
  expect((await take('after')).status).toBe(201);
  expect((await held()).sort()).toEqual([...granted, 'after'].sort());
});
