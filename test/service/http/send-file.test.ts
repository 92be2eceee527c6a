import { once } from 'node:events';
import { truncate, writeFile } from 'node:fs/promises';
import { Agent, get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Hono } from 'hono';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { App, Environment } from '../../../src/service/http/context.ts';
import { sendFile } from '../../../src/service/http/send-output.ts';
import { startAppServer } from '../../support/app-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const size = 64 * 1_024 * 1_024;
/** Keeps connections open, so that the end of a connection does not mark the end of a response. */
const agent = new Agent({ keepAlive: true });
let path: string;
let server: Awaited<ReturnType<typeof startAppServer>>;
let begun: Awaited<ReturnType<typeof sendFile>>;

beforeEach(async () => {
  path = join(temporaryFolder(), 'object');
  await writeFile(path, Buffer.alloc(size));
});

beforeAll(async () => {
  const app: App = new Hono<Environment>();
  app.get('/', async (c) => {
    begun = await sendFile(c, { path, range: { start: 0, end: size }, status: 200, headers: {} }, 500);
    return begun.response;
  });
  server = await startAppServer(app);
});
afterAll(async () => {
  agent.destroy();
  await server.close({ idleMs: 0, requestsMs: 0 });
});

async function ask(): Promise<IncomingMessage> {
  const asked = get({ port: server.port, agent });
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return answer;
}

test('a client that reads nothing for too long is cut off, and its slot is freed', async () => {
  const answer = await ask();
  await begun.ended;
  const broken = once(answer, 'error');
  answer.resume();
  expect(await broken).toMatchObject([{ code: 'ECONNRESET' }]);
});

test('a file that shrinks while it is sent breaks the connection, so that the response is incomplete', async () => {
  const answer = await ask();
  await truncate(path, size / 2);
  const broken = once(answer, 'error');
  answer.resume();
  expect(await broken).toMatchObject([{ code: 'ECONNRESET' }]);
  await begun.ended;
});
