import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forms } from '../../support/runs.ts';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';
import { commandEnvironment, runMain } from './run-main.ts';

let parent: string;
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'workspace-cli-'));
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.kill()));
  await rm(parent, { recursive: true, force: true, maxRetries: 3 });
});

const services: ServiceProcess[] = [];

async function startService(name: string): Promise<ServiceProcess> {
  const service = await startServiceProcess({ folder: join(parent, name) });
  services.push(service);
  return service;
}

const body = JSON.stringify({ path: 'Content/Slow.uasset', type: 'exclusive', ttl: '1h' });

/** A request whose head has arrived, and half of its body. */
async function beginRequest({ baseUrl, token, command }: ServiceProcess): Promise<{ socket: Socket; end(): void }> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  const head = [
    'POST /v1/workspaces/sample/locks HTTP/1.1',
    `host: ${hostname}:${port}`,
    `authorization: Bearer ${token}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    'expect: 100-continue',
    '\r\n',
  ];
  socket.write(head.join('\r\n'));
  // The service has read the head when it asks for the body.
  const answer = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
  if (!answer.toString().startsWith('HTTP/1.1 100 ')) throw new Error(`${answer}${command.stderr()}`);
  socket.write(body.slice(0, 10));
  return { socket, end: () => void socket.write(body.slice(10)) };
}

const stopping = ({ command }: ServiceProcess): Promise<string> =>
  command.logLine((line) => line.includes('"msg":"stopping'));

describe('a service that is told to stop', () => {
  test.concurrent.each(forms(['SIGTERM', 'SIGINT'] as const, 0))(
    'by %s answers what has begun, and ends with 0',
    async (signal) => {
      const service = await startService(signal);
      const request = await beginRequest(service);
      service.command.signal(signal);
      await stopping(service);
      await expect(fetch(service.baseUrl)).rejects.toThrow();
      request.end();
      expect(await text(request.socket)).toMatch(/^HTTP\/1\.1 201 /);
      expect(await service.command.ended()).toBe(0);
      const { stdout } = await runMain(['lock', 'list', 'sample', '--json'], commandEnvironment(service.folder));
      expect(JSON.parse(stdout).locks).toMatchObject([{ path: 'Content/Slow.uasset' }]);
    },
  );

  test.concurrent('by two signals at the same moment, as by Ctrl-C under npm, takes them for one', async () => {
    const service = await startService('ctrl-c');
    const request = await beginRequest(service);
    service.command.signal('SIGINT');
    service.command.signal('SIGTERM');
    await stopping(service);
    request.end();
    expect(await text(request.socket)).toMatch(/^HTTP\/1\.1 201 /);
    expect(await service.command.ended()).toBe(0);
  });

  const endings = [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const;

  test.concurrent.each(forms(endings, 1))('and then once more by %s ends at once, with %d', async (signal, code) => {
    const service = await startService(`twice-${signal}`);
    const { socket } = await beginRequest(service);
    socket.on('error', () => undefined);
    service.command.signal('SIGTERM');
    await stopping(service);
    // Not before a second has gone by is another signal another wish.
    const insist = setInterval(() => service.command.signal(signal), 200);
    expect(await service.command.ended()).toBe(code);
    clearInterval(insist);
  });
});
