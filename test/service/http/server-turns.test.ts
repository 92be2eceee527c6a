import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { startServer } from '../../../src/service/http/server.ts';
import { startAppServer } from '../../support/app-server.ts';
import { connectRaw, requestRaw, writeRequest } from '../../support/raw-http.ts';
import { describedApp } from './described-app.ts';

/** Requests that wait until the test starts them. */
const waiting: { readonly incoming: IncomingMessage; begin(): void }[] = [];
let whenWaiting = (): void => undefined;
let server: Awaited<ReturnType<typeof startServer>>;

async function nextWaiting() {
  const { promise, resolve } = Promise.withResolvers<void>();
  whenWaiting = resolve;
  if (waiting.length === 0) await promise;
  return waiting.shift() ?? expect.fail('Nothing waits.');
}

beforeAll(async () => {
  server = await startAppServer(describedApp(), {
    requestLimit: {
      async wait(incoming, _, begin) {
        waiting.push({ incoming, begin });
        whenWaiting();
      },
    },
  });
});
afterAll(() => server.close({ idleMs: 0, requestsMs: 0 }));
beforeEach(() => {
  waiting.length = 0;
});

test('a request is not processed before there is a slot for it', async () => {
  const connection = await connectRaw(server.port);
  onTestFinished(() => connection.close());
  await connection.send(writeRequest({ target: '/v1/none' }));
  const { incoming, begin } = await nextWaiting();
  expect(incoming.url).toBe('/v1/none');
  let isAnswered = false;
  const response = connection.response().finally(() => {
    isAnswered = true;
  });
  // Other requests are answered meanwhile.
  expect((await requestRaw(server.port, { target: '/healthz' })).status).toBe(200);
  expect(isAnswered).toBe(false);
  begin();
  expect((await response).status).toBe(404);
});

test('a connection is kept alive for 65 s, which is longer than proxies reuse it', async () => {
  const { headers } = await requestRaw(server.port, { target: '/healthz' });
  expect(headers.get('keep-alive')).toBe('timeout=65');
});
