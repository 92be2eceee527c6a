import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { storePool } from '../../support/stored-pool.ts';
import { visit } from '../dashboard/browser-like.ts';
import { expectedPages } from '../dashboard/expected-pages.ts';
import { noLocks, serveApp } from './described-app.ts';
import { expectedOperations } from './operations.ts';

const known = {
  listing: { branches: new Map(), defaultBranch: undefined, askedAt: 0, answeredAt: 0 },
  failure: undefined,
};
const charged: string[] = [];
let turn = async (): Promise<void> => undefined;
let app: Awaited<ReturnType<typeof serveApp>>;

beforeAll(async () => {
  app = await serveApp({
    scheduler: {
      identify: () => undefined,
      measured: (token) => void charged.push(token),
      nextTurn: async () => turn(),
    },
    locks: { ...noLocks, find: async () => undefined, queue: async () => [], placeOf: () => 'place' },
    remoteMemory: { known: () => known, ask: async () => known, askAgain: async () => known, askSoon: () => undefined },
    suggestPaths: { isMirrored: async () => true, suggest: async () => [] },
  });
  const { storage } = app;
  await storage.commit('global', (db) =>
    addWorkspace(db, storage.now, { id: 'game', remote: 'https://example.com/a' }),
  );
  await storePool(storage, 'game', 'seats', 'seat/1');
});
afterAll(() => app.stop());
beforeEach(() => {
  charged.length = 0;
});

/** Their work does not grow with what is stored, or other processes do it. */
const notCharged = new Set([
  ...['/v1/workspaces', '/v1/token', '/v1/workspaces/{id}/syncs/{sync_id}', '/metrics'],
  ...['', '/syncs/:sync', '/git-lfs', '/locks/ask', '/locks/extend', '/locks/paths', '/locks/release'].map(
    (page) => `/workspaces/:id${page}`,
  ),
  ...['/hooks/new', '/hooks/:hook/edit', '/hooks/:hook/remove', '/hooks/:hook/deliveries/:delivery'].map(
    (page) => `/workspaces/:id${page}`,
  ),
]);

const paths = [...expectedOperations, ...expectedPages]
  .filter(
    ({ method, need, path }) => method === 'GET' && !['anyone', 'admin'].includes(need) && !path.endsWith('/events'),
  )
  .map(({ path }) => path)
  .filter((path) => !notCharged.has(path));

test.each(paths)('charges the time of %s to the token of the request', async (path) => {
  const token = await app.token('locks:admin', 'sync', 'hooks:write');
  const visitor = visit({ baseUrl: `http://127.0.0.1:${app.port}` });
  await visitor.signIn(token);
  const target = path
    .replace(/\{id\}|:id/, 'game')
    .replace(/\{name\}|:name/, 'seats')
    .replace(':path', 'a');
  const { status, text } = await visitor.get(target, { authorization: `Bearer ${token}` });
  expect([200, 404], text).toContain(status);
  expect(charged).toContainEqual(expect.stringMatching(/^tok_/));
});

test.each(['/workspaces/game/locks/history.csv', '/audit/entries.csv', '/audit/entries.jsonl'])(
  'each part of %s waits for the turn of its request',
  async (path) => {
    const visitor = visit({ baseUrl: `http://127.0.0.1:${app.port}` });
    await visitor.signIn(await app.token('admin', 'locks:read'));
    charged.length = 0;
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    turn = () => {
      ask();
      return begun;
    };
    const file = visitor.get(path);
    await asked;
    expect(charged).toEqual([]);
    begin();
    expect((await file).status).toBe(200);
    expect(charged).toHaveLength(1);
  },
);
