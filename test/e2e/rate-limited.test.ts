import { describe, expect, test } from 'vitest';
import { createRateLimiter } from '../../src/service/http/rate-limit.ts';
import { type Answer, startOtherServer } from '../support/other-servers/other-server.ts';
import { passOn } from '../support/other-servers/slash-proxies.ts';
import { fasterTime } from '../support/preload.ts';
import { forms } from '../support/runs.ts';
import { openScene } from './scene.ts';

/** Its limit is that of the proxy in front. */
const scene = openScene({ rateLimit: null });

/** The time of the service and of the steps passes so many times faster. */
const times = 5;
const env = { NODE_OPTIONS: fasterTime(times) };

/** In front of the service: it takes five requests a second of all jobs together, and releases besides. */
async function behindALimit(burst: number) {
  const { admit } = createRateLimiter({ perSecond: 5, burst }, () => performance.now() * times);
  const count = { refused: 0 };
  const onward = passOn(scene.service.port);
  const server = await startOtherServer((response, request) => {
    const admission = request.method === 'DELETE' ? undefined : admit('token');
    for (const [name, value] of Object.entries(admission?.headers ?? {})) response.setHeader(name, value);
    if (admission?.kind === 'refused') {
      count.refused += 1;
      response.writeHead(429, { 'retry-after': String(admission.retryAfterSeconds) }).end();
    } else onward(response, request);
  });
  const workspace = await scene.service.workspace();
  const { secret } = await scene.service.token();
  const job = () => scene.job({ workspace, env: { WORKSPACE_BASE_URL: server.baseUrl, WORKSPACE_TOKEN: secret } });
  return { server, count, workspace, job };
}

const locking = (prefix: string, count: number, more: Readonly<Record<string, string>> = {}) => ({
  with: {
    operation: 'lock',
    path: Array.from({ length: count }, (_, number) => `${prefix}${number}.uasset`).join('\n'),
    ...more,
  },
  env,
});

describe('a service that takes five requests a second', () => {
  test.each(forms(['0', '4'], 0))(
    'gives a step forty locks with %s retries, and hardly refuses one',
    async (retries) => {
      const { count, workspace, job } = await behindALimit(5);
      const one = await job();
      const result = await one.run(locking('', 40, { retries }));
      expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'acquired', count: '40' } });
      // One that was told too late, perhaps, on a machine with other things to do.
      expect(count.refused).toBeLessThan(8);
      expect(result.log.match(/429 Too Many Requests/g)?.length ?? 0).toBeLessThanOrEqual(1);
      const [post] = await one.post();
      expect(post).toMatchObject({ conclusion: 'success', annotations: [] });
      expect(await scene.locked(workspace)).toEqual([]);
    },
  );

  test('and tells of no limit is met by all requests together, which is said once', async () => {
    const { admit } = createRateLimiter({ perSecond: 5, burst: 10 }, () => performance.now() * times);
    const onward = passOn(scene.service.port);
    const server = await startOtherServer((response, request) => {
      if (admit('token').kind === 'refused') response.writeHead(429).end();
      else onward(response, request);
    });
    const workspace = await scene.service.workspace();
    const job = await scene.job({ workspace, env: { WORKSPACE_BASE_URL: server.baseUrl } });
    const result = await job.run(locking('', 40, { retries: '0' }));
    expect(result).toMatchObject({ conclusion: 'success', outputs: { count: '40' } });
    expect(result.log.match(/429 Too Many Requests/g)).toHaveLength(1);
    expect(result.log.match(/The service limits requests/g)).toHaveLength(1);
    await expect(job.post()).resolves.toMatchObject([{ annotations: [] }]);
    expect(await scene.locked(workspace)).toEqual([]);
  });

  test('that then refuses everything but releases keeps no lock', async () => {
    const onward = passOn(scene.service.port);
    let refusing = false;
    const answer: Answer = (response, request) => {
      if (refusing && request.method !== 'DELETE') response.writeHead(429, { 'retry-after': '1' }).end();
      else onward(response, request);
    };
    const server = await startOtherServer(answer);
    const workspace = await scene.service.workspace();
    const job = await scene.job({ workspace, env: { WORKSPACE_BASE_URL: server.baseUrl } });
    await expect(job.run(locking('', 50))).resolves.toMatchObject({ conclusion: 'success' });
    refusing = true;
    const [post] = await job.post();
    expect(post).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(await scene.locked(workspace)).toEqual([]);
  });
});

describe('a service that is away until a time it names', () => {
  const awayFor = async (turns: number, headers: () => Record<string, string>) => {
    const onward = passOn(scene.service.port);
    let turn = 0;
    return startOtherServer((response, request) => {
      turn += 1;
      if (turn <= turns) response.writeHead(503, headers()).end();
      else onward(response, request);
    });
  };

  test.each([
    ['in seconds', () => ({ 'retry-after': '1' })],
    ['as a date', () => ({ 'retry-after': new Date(Date.now() + 2_000).toUTCString() })],
  ])('(%s) is waited for, however often it says so', async (_, headers) => {
    const server = await awayFor(6, headers);
    const workspace = await scene.service.workspace();
    const job = await scene.job({ workspace, env: { WORKSPACE_BASE_URL: server.baseUrl } });
    const result = await job.run(locking('', 1, { retries: '4' }));
    expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'acquired' } });
    await expect(job.post()).resolves.toMatchObject([{ annotations: [] }]);
  });

  test('beyond the time of the step ends it at once, and the step says so', async () => {
    const server = await awayFor(1_000, () => ({ 'retry-after': '600' }));
    const workspace = await scene.service.workspace();
    const job = await scene.job({ workspace, env: { WORKSPACE_BASE_URL: server.baseUrl } });
    const result = await job.run(locking('', 3));
    expect(result.conclusion).toBe('failure');
    expect(result.durationMs).toBeLessThan(20_000);
    expect(result.annotations[0]?.message).toContain('The service asks to wait for 10 min, and less time is left (');
  });
});
