import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { Hono } from 'hono';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { addLivePage, createLivePageQuota } from '../../../src/service/dashboard/frame/live-page.ts';
import { createApp } from '../../../src/service/http/app.ts';
import type { App, Environment } from '../../../src/service/http/context.ts';
import { createRateLimiter } from '../../../src/service/http/rate-limit.ts';
import { startServer } from '../../../src/service/http/server.ts';
import { createMetrics } from '../../../src/service/runtime/metrics.ts';
import { endlessDisk } from '../../support/endless-disk.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { signedIn, visit } from './browser-like.ts';

const service = serviceOfTests();

async function open(url: string, cookie: string): Promise<IncomingMessage> {
  const [response] = (await once(get(url, { headers: { cookie } }), 'response')) as [IncomingMessage];
  onTestFinished(() => void response.destroy());
  return response;
}

test('a live page that does not read is sent only as much as the buffers hold', async () => {
  const [eventBytes, events] = [256 * 1024, 400];
  const visitor = await signedIn(service);
  let sent = 0;
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const { promise: freed, resolve: free } = Promise.withResolvers<void>();
  const app: App = new Hono<Environment>();
  const site = {
    storage: service.storage,
    rateLimiter: createRateLimiter(null, () => 0),
    requestLimit: { identify: () => undefined },
    noteUse: () => undefined,
    freeDisk: endlessDisk,
    stopping: new AbortController().signal,
    takeLivePage: () => free,
    showPage: () => expect.unreachable(),
    app,
  };
  const workspace = await service.workspace();
  addLivePage(site, { path: '/events', access: 'any-token' }, async () => async ({ send }) => {
    try {
      for (; sent < events; sent += 1) await send('changed', 'x'.repeat(eventBytes));
    } finally {
      end();
    }
  });
  const databaseClock = { now: Date.now };
  const parts = { log: pino({ level: 'silent' }), metrics: createMetrics(), trustedProxies: [], databaseClock };
  const server = await startServer(createApp(parts, [app]), '127.0.0.1', 0);
  onTestFinished(() => server.close({ idleMs: 0, requestsMs: 0 }));

  const response = await open(`http://127.0.0.1:${server.port}/workspaces/${workspace}/events`, visitor.cookie());
  expect(response.headers).toMatchObject({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  for (let before = -1; before !== sent; await sleep(500)) before = sent;
  expect(sent * eventBytes).toBeLessThan((events * eventBytes) / 2);
  response.destroy();
  await Promise.all([ended, freed]);
  expect(sent).toBeLessThan(events);
});

test('tokens and workspaces get live pages up to their limits, and no more', () => {
  const limits = { total: 8, perToken: 3, perWorkspace: 4 };
  const opening = fc.record({
    kind: fc.constant('open' as const),
    token: fc.constantFrom('a', 'b', 'c', 'd'),
    workspace: fc.constantFrom('game', 'film', 'cad'),
  });
  const closing = fc.record({ kind: fc.constant('close' as const), which: fc.nat(), times: fc.constantFrom(1, 2) });
  fc.assert(
    fc.property(fc.array(fc.oneof(opening, opening, closing), { maxLength: 80, size: 'max' }), (steps) => {
      const take = createLivePageQuota(limits);
      const pages: { token: string; workspace: string; free: () => void }[] = [];
      for (const step of steps) {
        if (step.kind === 'close') {
          const [closed] = pages.splice(step.which % Math.max(1, pages.length), 1);
          for (let time = 0; time < step.times; time += 1) closed?.free();
          continue;
        }
        const { token, workspace } = step;
        const hasRoom =
          pages.length < limits.total &&
          pages.filter((page) => page.token === token).length < limits.perToken &&
          pages.filter((page) => page.workspace === workspace).length < limits.perWorkspace;
        if (hasRoom) pages.push({ token, workspace, free: take({ token, workspace }) });
        else expect(() => take({ token, workspace })).toThrow(/At most \d+ live pages/);
      }
    }),
  );
});

test('the 65th live page of a token is refused, in whichever session, until another one is closed', async () => {
  const greedy = await signedIn(service);
  const again = visit(service);
  await again.signIn(greedy.secret);
  const other = await signedIn(service);
  const url = `${service.baseUrl}/workspaces/${await service.workspace()}/locks/events`;
  const cookies = Array.from({ length: 64 }, (_, index) => (index % 2 === 0 ? greedy : again).cookie());
  const pages = await Promise.all(cookies.map((cookie) => open(url, cookie)));
  expect(new Set(pages.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
  const refused = await open(url, again.cookie());
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '30']);
  expect((await open(url, other.cookie())).statusCode).toBe(200);
  pages[0]?.destroy();
  await expect.poll(async () => (await open(url, again.cookie())).statusCode).toBe(200);
});

test('the response to a HEAD request is not a live page', async () => {
  const visitor = await signedIn(service);
  const url = `${service.baseUrl}/workspaces/${await service.workspace()}/locks/events`;
  const headers = { cookie: visitor.cookie() };
  const heads = await Promise.all(Array.from({ length: 64 }, () => fetch(url, { method: 'HEAD', headers })));
  expect(new Set(heads.map(({ status }) => status))).toEqual(new Set([200]));
  await expect.poll(async () => (await open(url, visitor.cookie())).statusCode).toBe(200);
});
