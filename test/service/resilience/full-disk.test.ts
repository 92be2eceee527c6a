import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { sqlite } from '../../support/databases.ts';
import { startTestService } from '../../support/running-service.ts';
import { locksOf } from '../http/shared-service.ts';

// SQLite's own limits have the same effect as the disk: SQLITE_FULL and SQLITE_READONLY.
test.each([
  ['full', 'its disk is full', 'max_page_count = 1', 'max_page_count = 1000000'],
  ['read-only', 'its file or folder is read-only', 'query_only = 1', undefined],
])(
  'writes get 503 with a reason on a %s disk, reads continue, and nothing is lost',
  async (_, reason, broken, whole) => {
    const service = await startTestService(sqlite);
    onTestFinished(service.stop);
    const { secret: token } = await service.token();
    const { take, release, paths } = locksOf(service, await service.workspace(), token);
    const set = (pragma: string) => service.storage.commit('global', (db) => sql.raw(`pragma ${pragma}`).execute(db));
    const long = (index: number) => `${index}-${'x'.repeat(900)}`;
    const held = () => paths('?limit=1000');
    expect((await take('before')).status).toBe(201);

    await set(broken);
    const granted: string[] = ['before'];
    const refused = [];
    for (let index = 0; index < 20; index += 1) {
      const reply = await take(long(index));
      if (reply.status === 201) granted.push(long(index));
      else refused.push(reply);
    }
    expect(refused.length).toBeGreaterThan(0);
    for (const { status, body, headers } of refused) {
      expect([status, body.type]).toEqual([503, 'urn:workspace-automation:problem:unavailable']);
      expect(body.detail).toContain(reason);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await held()).sort()).toEqual([...granted].sort());
    // Nothing makes the connection of the database writable again.
    if (whole === undefined) return;
    await set(whole);
    expect((await take('after')).status).toBe(201);
    expect((await held()).sort()).toEqual([...granted, 'after'].sort());
    expect((await release('before')).status).toBe(204);
  },
);
