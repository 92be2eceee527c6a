import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';
import { lockedPathsIn } from '../../support/stored-rows.ts';
import { folderOfTests } from '../../support/temporary-folder.ts';

const parent = folderOfTests();
afterAll(async () => void (await Promise.all(services.map((service) => service.kill()))));

const services: ServiceProcess[] = [];

async function startService(name: string): Promise<ServiceProcess> {
  const service = await startServiceProcess({ folder: join(parent, name) });
  services.push(service);
  return service;
}

/** Sends the head of a request and half of its body. */
async function beginRequest({ baseUrl, token }: ServiceProcess) {
  const body = JSON.stringify({ path: 'Content/Slow.uasset', type: 'exclusive', ttl: '1h' });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', expect: '100-continue' };
  const asked = request(`${baseUrl}/workspaces/sample/locks`, {
    method: 'POST',
    agent: false,
    headers: { ...headers, 'content-length': body.length },
  });
  const status = once(asked, 'response').then(([response]) => response.resume().statusCode);
  status.catch(() => undefined);
  asked.flushHeaders();
  // The service has read the head when it asks for the body.
  await once(asked, 'continue');
  asked.write(body.slice(0, 10));
  return { status, end: () => void asked.end(body.slice(10)) };
}

const stopping = ({ command }: ServiceProcess): Promise<string> =>
  command.logLine((line) => line.includes('"msg":"stopping'));

describe('a service that receives', () => {
  // Both signals at the same moment, as by Ctrl-C under npm, count as one.
  test.concurrent.each([['SIGTERM'], ['SIGINT', 'SIGTERM']] as const)(
    '%s completes running requests, and exits with 0',
    async (...signals) => {
      const service = await startService(signals.join('-'));
      const { status, end } = await beginRequest(service);
      for (const signal of signals) service.command.signal(signal);
      await stopping(service);
      const isRefused = () =>
        fetch(service.baseUrl).then(
          () => false,
          () => true,
        );
      // Concurrent tests cannot share `expect.poll`.
      await vi.waitUntil(isRefused, { timeout: 10_000 });
      end();
      expect(await status).toBe(201);
      expect(await service.command.ended()).toBe(0);
      expect(await lockedPathsIn(service.folder)).toEqual(['Content/Slow.uasset']);
    },
  );

  const endings = [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const;

  test.concurrent.each(endings)('SIGTERM, and later %s, ends at once with %d', async (signal, code) => {
    const service = await startService(`twice-${signal}`);
    await beginRequest(service);
    service.command.signal('SIGTERM');
    await stopping(service);
    // Another signal counts as a second one only after a second.
    const insist = setInterval(() => service.command.signal(signal), 200);
    expect(await service.command.ended()).toBe(code);
    clearInterval(insist);
  });
});
