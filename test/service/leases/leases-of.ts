import type { Ask, Reply, RunningService } from '../../support/running-service.ts';

/** Leases of a workspace, as the token sees them. */
export function leasesOf({ ask }: Pick<RunningService, 'ask'>, workspace: string, token: string) {
  const call = (method: string, id: string, more: Ask = {}, end = ''): Promise<Reply> =>
    ask(method, `/v1/workspaces/${workspace}/leases/${id}${end}`, { token, ...more });
  return {
    put: (id: string, body: object, headers: Ask['headers'] = {}) =>
      call('PUT', id, { json: { type: 'exclusive', ttl: '1h', ...body }, headers }),
    get: (id: string) => call('GET', id),
    renew: (id: string, ttl = '1h') => call('POST', id, { json: { ttl } }, '/renew'),
    end: (id: string) => call('DELETE', id),
  };
}
