import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realDatabaseKinds } from '../../support/databases.ts';
import { type RunningService, startTestService } from '../../support/running-service.ts';

describe.each(realDatabaseKinds)('the list of locks on $name', (kind) => {
  let service: RunningService;
  let token: string;

  beforeAll(async () => {
    service = await startTestService(kind);
    token = (await service.token()).secret;
  });
  afterAll(() => service.stop());

  const list = (workspace: string, query = '') =>
    service.ask('GET', `/v1/workspaces/${workspace}/locks${query}`, { token });
  const paths = async (workspace: string, query: string): Promise<string[]> =>
    (await list(workspace, query)).body.locks.map(({ path }: { path: string }) => path);

  async function workspaceWith(...locked: readonly string[]): Promise<string> {
    const workspace = await service.workspace();
    await Promise.all(
      locked.map(async (path) => {
        const json = { path, type: 'exclusive', ttl: '1h' };
        const { status } = await service.ask('POST', `/v1/workspaces/${workspace}/locks`, { token, json });
        expect(status).toBe(201);
      }),
    );
    return workspace;
  }

  test('has locks on paths that are refused by now, page by page, and they can be released', async () => {
    const workspace = await workspaceWith('a', 'b', 'c');
    const old = 'a\u202egnp.exe';
    const { storage } = service;
    await storage.commit('global', (db) =>
      db
        .updateTable('locks')
        .set({ path: old })
        .where('workspace_id', '=', workspace)
        .where('path', '=', 'b')
        .execute(),
    );
    const first = await list(workspace, '?limit=2');
    expect(first.body.locks.map(({ path }: { path: string }) => path)).toEqual(['a', old]);
    expect(await paths(workspace, `?limit=2&cursor=${first.body.next_cursor}`)).toEqual(['c']);
    expect(await paths(workspace, `?path=${encodeURIComponent(old)}`)).toEqual([old]);

    const address = `/v1/workspaces/${workspace}/locks/${encodeURIComponent(old)}`;
    const json = { path: old, type: 'exclusive', ttl: '1h' };
    const again = () => service.ask('POST', `/v1/workspaces/${workspace}/locks`, { token, json });
    expect((await again()).body.errors).toEqual([
      { pointer: '#/path', detail: expect.stringContaining('direction of text') },
    ]);
    expect((await service.ask('DELETE', address, { token })).status).toBe(204);
    const absent = await service.ask('DELETE', address, { token });
    expect([absent.status, absent.body.errors[0].pointer]).toEqual([422, '#/path']);
    expect((await again()).status).toBe(422);
  });

  test('has every lock as it was answered when it was taken, sorted by path, and no other workspace', async () => {
    const workspace = await workspaceWith('b', 'a', 'c/d');
    await workspaceWith('other');
    const { status, body, headers } = await list(workspace);
    expect(status).toBe(200);
    expect(body.locks.map(({ path }: { path: string }) => path)).toEqual(['a', 'b', 'c/d']);
    expect(body.next_cursor).toBeNull();
    expect(headers.get('link')).toBeNull();
    expect(Object.keys(body.locks[0]).sort()).toEqual(
      ['acquired_at', 'expires_at', 'fence', 'id', 'origin', 'owner', 'path', 'type'].sort(),
    );
  });

  test('?path= is exact, ?prefix= is what the path starts with, character by character', async () => {
    const workspace = await workspaceWith('a', 'a/b', 'ab', 'a_b', 'a%b', 'A/b', 'b/a');
    expect(await paths(workspace, '?path=a')).toEqual(['a']);
    expect(await paths(workspace, '?path=a%2Fb')).toEqual(['a/b']);
    expect(await paths(workspace, '?path=nothing')).toEqual([]);
    expect(await paths(workspace, '?prefix=a/')).toEqual(['a/b']);
    expect(await paths(workspace, '?prefix=a')).toEqual(['a', 'a%b', 'a/b', 'a_b', 'ab']);
    expect(await paths(workspace, '?prefix=a_')).toEqual(['a_b']);
    expect(await paths(workspace, '?prefix=a%25')).toEqual(['a%b']);
    expect(await paths(workspace, '?prefix=a&path=b/a')).toEqual([]);
    expect(await paths(workspace, '?prefix=')).toHaveLength(7);
  });

  test('a filter finds a path in whichever way its characters are written', async () => {
    const workspace = await workspaceWith('\u00fc/x');
    expect(await paths(workspace, `?prefix=${encodeURIComponent('u\u0308')}`)).toEqual(['\u00fc/x']);
    expect(await paths(workspace, `?path=${encodeURIComponent('u\u0308/x')}`)).toEqual(['\u00fc/x']);
  });

  test('pages have 100 locks, the cursor and the link lead on, and together they have each lock once', async () => {
    const all = Array.from({ length: 205 }, (_, index) => `file-${String(index).padStart(4, '0')}`);
    const workspace = await workspaceWith(...all);
    const seen: string[][] = [];
    let next: string | null = '';
    while (next !== null) {
      const { body, headers } = await list(workspace, next === '' ? '' : `?cursor=${next}`);
      seen.push(body.locks.map(({ path }: { path: string }) => path));
      next = body.next_cursor;
      const link = headers.get('link');
      expect(link === null).toBe(next === null);
      if (link !== null) {
        const [, target = ''] = /^<(.+)>; rel="next"$/.exec(link) ?? [];
        expect(new URL(target, service.baseUrl).searchParams.get('cursor')).toBe(next);
      }
    }
    expect(seen.map((page) => page.length)).toEqual([100, 100, 5]);
    expect(seen.flat()).toEqual(all);
    expect((await list(workspace, '?limit=1000')).body.locks).toHaveLength(205);
  });

  test('a link keeps the filter and the size of the page', async () => {
    const workspace = await workspaceWith('x/1', 'x/2', 'x/3', 'y');
    const found: string[] = [];
    let address = `/v1/workspaces/${workspace}/locks?prefix=x/&limit=2`;
    for (let page = 0; page < 2; page += 1) {
      const { body, headers } = await service.ask('GET', address, { token });
      found.push(...body.locks.map(({ path }: { path: string }) => path));
      address = /^<(.+)>/.exec(headers.get('link') ?? '')?.[1] ?? '';
    }
    expect(found).toEqual(['x/1', 'x/2', 'x/3']);
    expect(address).toBe('');
  });

  test('going on is not disturbed by locks that come and go meanwhile', async () => {
    const workspace = await workspaceWith('a', 'b', 'c', 'd');
    const { next_cursor } = (await list(workspace, '?limit=2')).body;
    await service.ask('DELETE', `/v1/workspaces/${workspace}/locks/b`, { token });
    expect(await paths(workspace, `?cursor=${next_cursor}`)).toEqual(['c', 'd']);
  });
});
