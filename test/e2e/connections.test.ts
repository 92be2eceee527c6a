import { expect, test } from 'vitest';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { openScene } from './scene.ts';

const scene = openScene();

test('a step uses at most sixteen connections at a time, even if it must look up each lock before its release', async () => {
  const locked = new Set<string>();
  const server = await startOtherServer((response, { method, url, body }) => {
    const path = decodeURIComponent(url.split('/locks/')[1] ?? '');
    setImmediate(() => {
      if (method === 'POST') {
        locked.add(JSON.parse(body).path);
        response.writeHead(201).end();
      } else if (method === 'PUT') response.writeHead(404).end();
      else if (method === 'DELETE') response.writeHead(locked.delete(path) ? 204 : 404).end();
      else response.end(JSON.stringify({ locks: [...locked].map((one) => ({ path: one })) }));
    });
  });
  const job = await scene.job({ workspace: 'game', env: { WORKSPACE_BASE_URL: server.baseUrl } });
  const path = Array.from({ length: 125 }, (_, number) => `${number}.uasset`).join('\n');
  await expect(job.run({ with: { operation: 'lock', path } })).resolves.toMatchObject({ conclusion: 'success' });
  await expect(job.run({ with: { operation: 'unlock', path } })).resolves.toMatchObject({ conclusion: 'success' });
  expect(locked.size).toBe(0);
  expect(server.connections.mostAtOnce).toBeLessThanOrEqual(16);
  await expect(job.run({ with: { operation: 'lock', path } })).resolves.toMatchObject({ conclusion: 'success' });
  await job.post();
  expect(locked.size).toBe(0);
  expect(server.connections.mostAtOnce).toBeLessThanOrEqual(16);
});
