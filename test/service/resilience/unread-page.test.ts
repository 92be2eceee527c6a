import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { livePage } from '../../../src/service/dashboard/frame/live-page.ts';
import type { Environment } from '../../../src/service/http/context.ts';
import { startSession } from '../../../src/service/sessions/sessions.ts';
import { sharedService } from '../http/shared-service.ts';

const service = sharedService();

test('a live page that does not read keeps few events in memory, and ends with its connection', async () => {
  const { storage } = service;
  const { id } = await service.token();
  const actor = { name: 'ada', tokenId: id, address: null };
  const secret = await storage.commit('global', (db) => startSession(db, storage.now, actor, 'token'));
  let [events, open] = [0, 0];
  const ended = Promise.withResolvers<void>();
  const site = {
    storage,
    stopping: new AbortController().signal,
    takeLivePage() {
      open += 1;
      return () => {
        open -= 1;
        ended.resolve();
        return true;
      };
    },
    locks: {
      async *follow(_: unknown, gone: AbortSignal) {
        for (; !gone.aborted; events += 1) yield;
      },
    },
  };
  const app = new Hono<Environment>();
  const see = async () => ({});
  // Only what a live page uses.
  const show = livePage(site as never, see as never);
  app.get('/', (c) => {
    c.set('session', { secret, now: 0 });
    return show({ c, bearer: { id } } as never);
  });
  const outgoing = Object.assign(new EventEmitter(), { destroyed: false });
  const response = await app.request('/', {}, { incoming: {}, outgoing });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  // Nobody reads the body. Each of these turns would be enough for further events.
  for (let turn = 0; turn < 1_000; turn += 1) await setImmediate();
  expect([open, events]).toEqual([1, expect.toSatisfy((count: number) => count < 10)]);
  outgoing.emit('close');
  await ended.promise;
  expect(open).toBe(0);
});
