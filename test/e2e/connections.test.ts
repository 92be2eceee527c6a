import { expect, test } from 'vitest';
import { startOtherServer } from '../support/other-servers/other-server.ts';
import { passOn } from '../support/other-servers/slash-proxies.ts';
import { openScene } from './scene.ts';

const scene = openScene();

test('five hundred paths use sixteen connections at once, again and again', async () => {
  const workspace = await scene.service.workspace();
  const proxy = await startOtherServer(passOn(scene.service.port));
  const job = await scene.job({ workspace, env: { WORKSPACE_BASE_URL: proxy.baseUrl } });
  const paths = Array.from({ length: 500 }, (_, number) => `${number}.uasset`);

  const locking = await job.run({ with: { operation: 'lock', path: paths.join('\n') } });
  expect(locking.outputs).toMatchObject({ status: 'acquired', count: '500' });
  expect(proxy.requests.map(({ method }) => method)).toEqual(paths.map(() => 'POST'));
  expect(proxy.connections.mostAtOnce).toBeLessThanOrEqual(16);
  // Some more than sixteen where one that was idle for long has been closed.
  const { opened } = proxy.connections;
  expect(opened).toBeLessThan(50);

  const [post] = await job.post();
  expect(post?.conclusion).toBe('success');
  expect(proxy.requests.slice(500).map(({ method }) => method)).toEqual(paths.map(() => 'DELETE'));
  expect(proxy.connections.mostAtOnce).toBeLessThanOrEqual(16);
  expect(proxy.connections.opened - opened).toBeLessThan(50);
  expect(await scene.locked(workspace)).toEqual([]);
});
