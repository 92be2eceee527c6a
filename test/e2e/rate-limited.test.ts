import { expect, test } from 'vitest';
import { createRateLimiter } from '../../src/service/http/rate-limit.ts';
import { passOn } from '../support/other-servers/slash-proxies.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { fasterTime } from '../support/preload.ts';
import { openScene } from './scene.ts';

/** The proxy in front of the service has the rate limit. */
const scene = openScene({ rateLimit: null });

/** Time passes faster by this factor for the proxy and the steps. */
const times = 5;

test('an unannounced rate limit pauses all requests together, and is logged once', async () => {
  const { admit } = createRateLimiter({ perSecond: 5, burst: 10 }, () => performance.now() * times);
  const onward = passOn(scene.service.port);
  const server = await startOtherServer((response, request) => {
    if (admit('token').kind === 'refused') response.writeHead(429).end();
    else if (request.method === 'PUT') response.writeHead(404).end();
    else onward(response, request);
  });
  const workspace = await scene.service.workspace();
  const job = await scene.job({ workspace, env: { WORKSPACE_BASE_URL: server.baseUrl } });
  const path = Array.from({ length: 40 }, (_, number) => `${number}.uasset`).join('\n');
  const result = await job.run({
    with: { operation: 'lock', path, retries: '0' },
    env: { NODE_OPTIONS: fasterTime(times) },
  });
  expect(result).toMatchObject({ conclusion: 'success', outputs: { count: '40' } });
  expect(result.log.match(/429 Too Many Requests/g)).toHaveLength(1);
  await expect(job.post()).resolves.toMatchObject([{ annotations: [] }]);
  expect(await scene.locked(workspace)).toEqual([]);
});
