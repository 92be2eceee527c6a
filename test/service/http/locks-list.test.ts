import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { locksOf, pathsIn, sharedService } from './shared-service.ts';

describe.each(databaseKinds)('the list of locks on $name', (kind) => {
  const service = sharedService(kind);

  async function workspaceWith(...locked: readonly string[]) {
    const locks = await service.newWorkspace();
    for (const { status } of await Promise.all(locked.map((path) => locks.take(path)))) expect(status).toBe(201);
    return locks;
  }

  test('returns every lock as it was when acquired, sorted by path, without other workspaces', async () => {
    const { take, list, paths } = await workspaceWith('b', 'c/d');
    await workspaceWith('other');
    const { body: taken } = await take('a');
    const { status, body, headers } = await list();
    expect([status, body.next_cursor, headers.get('link')]).toEqual([200, null, null]);
    expect(await paths()).toEqual(['a', 'b', 'c/d']);
    expect(body.locks[0]).toEqual(taken);
  });

  test('matches ?path= exactly, and ?prefix= with the start of the path, character by character', async () => {
    const { paths } = await workspaceWith('a', 'a/b', 'ab', 'a_b', 'a%b', 'A/b', 'b/a');
    expect(await paths('?path=a')).toEqual(['a']);
    expect(await paths('?path=a%2Fb')).toEqual(['a/b']);
    expect(await paths('?path=nothing')).toEqual([]);
    expect(await paths('?prefix=a/')).toEqual(['a/b']);
    expect(await paths('?prefix=a')).toEqual(['a', 'a%b', 'a/b', 'a_b', 'ab']);
    expect(await paths('?prefix=a_')).toEqual(['a_b']);
    expect(await paths('?prefix=a%25')).toEqual(['a%b']);
    expect(await paths('?prefix=a&path=b/a')).toEqual([]);
    expect(await paths('?prefix=')).toHaveLength(7);
  });

  test('matches ?owner= exactly, with its case, and combines it with the other filters', async () => {
    const { id, paths } = await workspaceWith();
    for (const [owner, path] of [
      ['ada', 'x/1'],
      ['Ada', 'x/2'],
      ['ada ci', 'x/3'],
      ['ada', 'y'],
    ] as const) {
      const { secret } = await service.token({ owner });
      expect((await locksOf(service, id, secret).take(path)).status).toBe(201);
    }
    expect(await paths('?owner=ada')).toEqual(['x/1', 'y']);
    expect(await paths('?owner=Ada')).toEqual(['x/2']);
    expect(await paths('?owner=ada+ci')).toEqual(['x/3']);
    for (const nobody of ['ad', 'ADA', '']) expect(await paths(`?owner=${nobody}`)).toEqual([]);
    expect(await paths('?owner=ada&prefix=x')).toEqual(['x/1']);
    expect(await paths('?owner=ada&path=y')).toEqual(['y']);
    expect(await paths('?owner=ada&path=x/2')).toEqual([]);
  });

  test('finds and releases a path in any Unicode normalization form', async () => {
    const { paths, take, release } = await workspaceWith('\u00fc/x');
    expect((await take('u\u0308/x')).status).toBe(409);
    expect(await paths(`?prefix=${encodeURIComponent('u\u0308')}`)).toEqual(['\u00fc/x']);
    expect(await paths(`?path=${encodeURIComponent('u\u0308/x')}`)).toEqual(['\u00fc/x']);
    expect((await release('u\u0308/x')).status).toBe(204);
  });

  test('has pages of 100 locks, whose cursors and links lead to each lock once', async () => {
    const all = Array.from({ length: 205 }, (_, index) => `file-${String(index).padStart(4, '0')}`);
    const { list, paths } = await workspaceWith(...all);
    const seen: string[][] = [];
    let next: string | null = '';
    while (next !== null) {
      const response = await list(next === '' ? '' : `?cursor=${next}`);
      seen.push(pathsIn(response));
      next = response.body.next_cursor;
      const [, target] = /^<(.+)>; rel="next"$/.exec(response.headers.get('link') ?? '') ?? [];
      expect(target === undefined ? null : new URL(target, service.baseUrl).searchParams.get('cursor')).toBe(next);
    }
    expect(seen.map((page) => page.length)).toEqual([100, 100, 5]);
    expect(seen.flat()).toEqual(all);
    expect(await paths('?limit=1000')).toHaveLength(205);
  });

  test('keeps the filter and the page size in its links', async () => {
    const { id, list } = await workspaceWith('x/1', 'x/2', 'x/3', 'y');
    const { owner } = (await list()).body.locks[0];
    const other = locksOf(service, id, (await service.token({ owner: 'another' })).secret);
    expect((await other.take('x/4')).status).toBe(201);
    const found: string[] = [];
    let address = `/v1/workspaces/${id}/locks?prefix=x/&owner=${encodeURIComponent(owner)}&limit=2`;
    for (let page = 0; page < 2; page += 1) {
      const response = await service.ask('GET', address, { token: service.secret });
      found.push(...pathsIn(response));
      address = /^<(.+)>/.exec(response.headers.get('link') ?? '')?.[1] ?? '';
    }
    expect([found, address]).toEqual([['x/1', 'x/2', 'x/3'], '']);
  });
});
