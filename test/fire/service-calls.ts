import { expect } from 'vitest';
import { ask, type Reply } from '../support/running-service.ts';
import type { ServiceProcess } from '../support/service-process.ts';

export interface EndedSync {
  readonly status: 'succeeded' | 'failed';
  readonly error: string | null;
  readonly head: string | null;
}

export interface ServiceCalls {
  lock(path: string, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  release(path: string): Promise<Reply>;
  /** The paths of all locks, in order. */
  held(): Promise<string[]>;
  /** Asks for a sync of main, and gives how it ended. */
  sync(): Promise<EndedSync>;
  triggerSync(): Promise<Reply>;
  /** The sum of the series of a metric whose labels are these. */
  metric(name: string, labels?: string): Promise<number>;
  /** An address outside of `/v1`. */
  get(path: string): Promise<Reply>;
}

export function callsTo({ baseUrl, token, workspace }: Omit<ServiceProcess, 'command'>): ServiceCalls {
  const url = `/workspaces/${workspace}`;
  const root = baseUrl.replace(/\/v1$/, '');
  const get: ServiceCalls['get'] = (path) => ask(root, 'GET', path, { token });
  const triggerSync: ServiceCalls['triggerSync'] = () =>
    ask(baseUrl, 'POST', `${url}/sync`, { token, json: { branch: 'main' } });
  return {
    get,
    triggerSync,
    lock: (path, headers = {}) =>
      ask(baseUrl, 'POST', `${url}/locks`, { token, headers, json: { path, type: 'exclusive', ttl: '1h' } }),
    release: (path) => ask(baseUrl, 'DELETE', `${url}/locks/${encodeURIComponent(path)}`, { token }),
    async held() {
      const { status, body } = await ask(baseUrl, 'GET', `${url}/locks?limit=1000`, { token });
      expect(status).toBe(200);
      return body.locks.map(({ path }: { path: string }) => path).sort();
    },
    async sync() {
      const { status, headers } = await triggerSync();
      expect(status).toBe(202);
      const read = async () => (await get(headers.get('location') ?? '')).body;
      await expect.poll(async () => (await read()).status, { timeout: 30_000 }).toMatch(/^(succeeded|failed)$/);
      return read();
    },
    async metric(name, labels = '') {
      const { text } = await get('/metrics');
      const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
      const values = lines.filter((line) => line.includes(labels)).map((line) => Number(line.split(' ').at(-1)));
      return values.reduce((sum, value) => sum + value, 0);
    },
  };
}
