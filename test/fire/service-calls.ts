import { createHash } from 'node:crypto';
import { expect, onTestFinished } from 'vitest';
import { ask } from '../support/running-service.ts';
import { type ServiceProcess, type ServiceProcessOptions, startServiceProcess } from '../support/service-process.ts';

export function callsTo({ baseUrl, token, workspace }: Omit<ServiceProcess, 'command'>) {
  const url = `/workspaces/${workspace}`;
  const root = baseUrl.replace(/\/v1$/, '');
  /** Sends a GET request outside of `/v1`. */
  const get = (path: string) => ask(root, 'GET', path, { token });
  const triggerSync = (branch = 'main') => ask(baseUrl, 'POST', `${url}/sync`, { token, json: { branch } });
  return {
    get,
    triggerSync,
    lock: (path: string, headers: Readonly<Record<string, string>> = {}, ttl = '1h') =>
      ask(baseUrl, 'POST', `${url}/locks`, { token, headers, json: { path, type: 'exclusive', ttl } }),
    release: (path: string) => ask(baseUrl, 'DELETE', `${url}/locks/${encodeURIComponent(path)}`, { token }),
    /** The paths of all locks, in order. */
    async held(): Promise<string[]> {
      const { status, body } = await ask(baseUrl, 'GET', `${url}/locks?limit=1000`, { token });
      expect(status).toBe(200);
      return body.locks.map(({ path }: { path: string }) => path).sort();
    },
    /** Requests a sync, and returns its result. */
    async sync(branch?: string) {
      const { status, headers } = await triggerSync(branch);
      expect(status).toBe(202);
      const read = async () => (await get(headers.get('location') ?? '')).body;
      await expect.poll(async () => (await read()).status, { timeout: 30_000 }).toMatch(/^(succeeded|failed)$/);
      return read();
    },
    /** The sum of the series of a metric. */
    async metric(name: string): Promise<number> {
      const { text } = await get('/metrics');
      const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
      return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    },
  };
}

/** A service that is stopped at the end of the test. */
export async function startService(options: ServiceProcessOptions = {}): Promise<ServiceProcess> {
  const service = await startServiceProcess(options);
  onTestFinished(async () => void (await service.stop()));
  return service;
}

export const mebibyte = 1_024 * 1_024;

/** Bytes that do not compress, like those of an asset, and are the same every time. */
export const incompressible = (size: number, seed = ''): Buffer =>
  Buffer.concat(
    Array.from({ length: size / 64 }, (_, block) => createHash('sha512').update(`${seed} ${block}`).digest()),
  );
