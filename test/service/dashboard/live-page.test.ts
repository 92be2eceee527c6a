import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { addLivePage } from '../../../src/service/dashboard/frame/live-page.ts';
import { createApp } from '../../../src/service/http/app.ts';
import type { App, Environment } from '../../../src/service/http/context.ts';
import { createRateLimiter } from '../../../src/service/http/rate-limit.ts';
import { startServer } from '../../../src/service/http/server.ts';
import { endlessDisk } from '../../../src/service/runtime/free-disk.ts';
import { createMetrics } from '../../../src/service/runtime/metrics.ts';
import { startTestService } from '../../support/running-service.ts';
import { anyDatabase } from '../http/any-database.ts';
import { visit } from './browser-like.ts';

const eventBytes = 256 * 1024;
const events = 400;

test.each(anyDatabase)('a page that does not read is sent what fits on the way, and no more', async (kind) => {
  const service = await startTestService(kind);
  onTestFinished(() => service.stop());
  const visitor = visit(service);
  await visitor.signIn((await service.token()).secret);

  let sent = 0;
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const { promise: freed, resolve: free } = Promise.withResolvers<void>();
  const app: App = new Hono<Environment>();
  const control = {
    storage: service.storage,
    rateLimiter: createRateLimiter(null, () => 0),
    turns: { identify: () => undefined, measured: () => undefined },
    noteUse: () => undefined,
    freeDisk: endlessDisk,
    stopping: new AbortController().signal,
    takeLivePage: () => free,
  };
  addLivePage(app, control, { path: '/events', access: 'any-token' }, async () => async ({ send }) => {
    try {
      for (; sent < events; sent += 1) await send('much', 'x'.repeat(eventBytes));
    } finally {
      end();
    }
  });
  const parts = { log: pino({ level: 'silent' }), metrics: createMetrics(), trustedProxies: [] };
  const server = await startServer(createApp(parts, [app]), '127.0.0.1', 0);
  onTestFinished(() => server.close(0));

  const request = get(`http://127.0.0.1:${server.port}/events`, { headers: { cookie: visitor.cookie() } });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  expect(answer.headers).toMatchObject({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  for (let before = -1; before !== sent; await sleep(500)) before = sent;
  expect(sent * eventBytes).toBeLessThan((events * eventBytes) / 2);

  request.destroy();
  await Promise.all([ended, freed]);
  expect(sent).toBeLessThan(events);
});
