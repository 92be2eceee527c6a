import { expect, test } from 'vitest';
import { startOtherServer } from '../support/other-servers/other-server.ts';
import { passOn } from '../support/other-servers/slash-proxies.ts';
import { everyForm } from '../support/runs.ts';
import { openScene } from './scene.ts';

const scene = openScene();

const many = everyForm ? 500 : 120;

test('any number of paths use sixteen connections at once, again and again', async () => {
  const workspace = await scene.service.workspace();
  const proxy = await startOtherServer(passOn(scene.service.port));
  const job = await scene.job({ workspace, env: { WORKSPACE_BASE_URL: proxy.baseUrl } });
  const paths = Array.from({ length: many }, (_, number) => `${number}.uasset`);

  const locking = await job.run({ with: { operation: 'lock', path: paths.join('\n') } });
  expect(locking.outputs).toMatchObject({ status: 'acquired', count: String(many) });
  expect(proxy.requests.map(({ method }) => method)).toEqual(paths.map(() => 'POST'));
  expect(proxy.connections.mostAtOnce).toBeLessThanOrEqual(16);
  // Some more than sixteen where one that was idle for long has been closed.
  const { opened } = proxy.connections;
  expect(opened).toBeLessThan(50);

  const [post] = await job.post();
  expect(post?.conclusion).toBe('success');
  expect(proxy.requests.slice(many).map(({ method }) => method)).toEqual(paths.map(() => 'DELETE'));
  expect(proxy.connections.mostAtOnce).toBeLessThanOrEqual(16);
  expect(proxy.connections.opened - opened).toBeLessThan(50);
  expect(await scene.locked(workspace)).toEqual([]);
});

test('a service that gives nothing to tell locks apart is looked at and released over the same sixteen', async () => {
  const locked = new Set<string>();
  const server = await startOtherServer((response, { method, url, body }) => {
    const path = decodeURIComponent(url.split('/locks/')[1] ?? '');
    setImmediate(() => {
      if (method === 'POST') {
        locked.add(JSON.parse(body).path);
        response.writeHead(201).end();
      } else if (method === 'DELETE') response.writeHead(locked.delete(path) ? 204 : 404).end();
      else response.end(JSON.stringify({ locks: [...locked].map((one) => ({ path: one })) }));
    });
  });
  const job = await scene.job({ workspace: 'game', env: { WORKSPACE_BASE_URL: server.baseUrl } });
  const path = Array.from({ length: many / 4 }, (_, number) => `${number}.uasset`).join('\n');
  await expect(job.run({ with: { operation: 'lock', path } })).resolves.toMatchObject({ conclusion: 'success' });
  await expect(job.run({ with: { operation: 'unlock', path } })).resolves.toMatchObject({ conclusion: 'success' });
  expect(locked.size).toBe(0);
  expect(server.connections.mostAtOnce).toBeLessThanOrEqual(16);
  await expect(job.run({ with: { operation: 'lock', path } })).resolves.toMatchObject({ conclusion: 'success' });
  await job.post();
  expect(locked.size).toBe(0);
  expect(server.connections.mostAtOnce).toBeLessThanOrEqual(16);
});
