import { expect } from 'vitest';
import type { Ask, Reply, RunningService } from '../../support/running-service.ts';

export const lfsMediaType = 'application/vnd.git-lfs+json';

/** Sends requests as LFS clients do: https://github.com/git-lfs/git-lfs/blob/main/docs/api/locking.md */
export function lfsOf(
  { ask }: Pick<RunningService, 'ask'>,
  workspace: string,
  token: string | undefined,
  endpoint = 'lfs',
) {
  const address = `/v1/workspaces/${workspace}/${endpoint}`;
  const types = { accept: lfsMediaType, 'content-type': `${lfsMediaType}; charset=utf-8` };
  const post = (path: string, json: unknown, { headers = {}, ...more }: Ask = {}): Promise<Reply> =>
    ask('POST', `${address}${path}`, { token, json, headers: { ...types, ...headers }, ...more });
  return {
    address,
    post,
    take: (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> =>
      post('/locks', { path, ref: { name: 'refs/heads/main' } }, { headers }),
    list: (query = ''): Promise<Reply> =>
      ask('GET', `${address}/locks${query}`, { token, headers: { accept: lfsMediaType } }),
    verify: (json: unknown = {}): Promise<Reply> => post('/locks/verify', json),
    release: (id: string, json: unknown = {}): Promise<Reply> => post(`/locks/${id}/unlock`, json),
    batch: (
      objects: readonly { readonly oid: string; readonly size: number }[] = [],
      more: Readonly<Record<string, unknown>> = {},
      given: Ask = {},
    ): Promise<Reply> => post('/objects/batch', { operation: 'download', objects, ...more }, given),
  };
}

export const pathsOf = (locks: readonly { readonly path: string }[]): readonly string[] =>
  locks.map(({ path }) => path);

/** Expects an error that LFS clients can show: with a message, and not in the problem format. */
export function expectLfsError({ status, headers, body }: Reply, expected: number): string {
  expect([status, headers.get('content-type')], JSON.stringify(body)).toEqual([expected, lfsMediaType]);
  expect(body).toMatchObject({
    message: expect.stringMatching(/^\S.*[.…]$/s),
    request_id: headers.get('x-request-id'),
  });
  expect(headers.get('cache-control')).toBe('no-store');
  return body.message;
}
