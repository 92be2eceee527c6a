import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { listLocks } from '../../../src/service/locks/list.ts';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { storePool } from '../../support/stored-pool.ts';
import { storeLocks } from '../../support/stored-rows.ts';
import { visit } from '../dashboard/browser-like.ts';
import { expectedPages } from '../dashboard/expected-pages.ts';
import { type RecordedQuery, recording } from '../storage/query-plan.ts';
import { noLocks, serveApp } from './described-app.ts';
import { expectedOperations } from './operations.ts';

const charged: { readonly token: string; readonly ms: number }[] = [];
const queries: RecordedQuery[] = [];
const branches = new Map();
const passes = [vi.spyOn(branches, 'keys'), vi.spyOn(branches, Symbol.iterator)];
const known = {
  listing: { branches, defaultBranch: undefined, askedAt: 0, answeredAt: 0 },
  failure: undefined,
  startedAt: 0,
};

/** Queries whose time does not grow with what is stored. */
const isBounded = ({ text }: RecordedQuery): boolean =>
  /from "(?:sessions|tokens)"|from json_each.* join "workspaces"/.test(text);

/** The clock of the measurements: each query that is not bounded and each pass over the branches takes a millisecond. */
const growingMs = (): number =>
  queries.filter((query) => !isBounded(query)).length + passes.reduce((sum, { mock }) => sum + mock.calls.length, 0);

let turn = async (): Promise<void> => undefined;
let app: Awaited<ReturnType<typeof serveApp>>;

beforeAll(async () => {
  app = await serveApp({
    scheduler: {
      identify: () => undefined,
      measured: (token, ms) => void charged.push({ token, ms }),
      nextTurn: async () => turn(),
    },
    locks: {
      ...noLocks,
      find: async () => undefined,
      queue: async () => [],
      list: (query) => listLocks(app.storage, query),
      waitIdOf: () => 'place',
      // Another request has released them.
      commitReleases: (_, change) =>
        app.storage.commit('global', async (db) => {
          await db.deleteFrom('locks').where('path', '=', 'a').execute();
          return change(db, async () => []);
        }),
    },
    remoteMemory: { known: () => known, ask: async () => known, askAgain: async () => known, askSoon: () => undefined },
    suggestPaths: { isMirrored: async () => true, suggest: async () => [], find: async () => undefined },
  });
  const { storage } = app;
  await storage.commit('global', (db) =>
    addWorkspace(db, storage.now, { id: 'game', remote: 'https://example.com/a' }),
  );
  await storePool(storage, 'game', 'seats', 'seat/1');
  await storeLocks(storage, { workspace_id: 'game', path: 'a' }, { workspace_id: 'game', path: 'b', owner: 'bob' });
  Object.assign(storage, { read: recording(storage.read, queries) });
  vi.spyOn(performance, 'now').mockImplementation(growingMs);
});
afterAll(() => app.stop());

async function signIn() {
  const token = await app.token('locks:admin', 'sync', 'hooks:write');
  const visitor = visit({ baseUrl: `http://127.0.0.1:${app.port}` });
  await visitor.signIn(token);
  charged.length = queries.length = 0;
  for (const pass of passes) pass.mockClear();
  return { visitor, token };
}

/** All that grows was charged to the token of the request. */
function expectCharged(): void {
  expect(
    charged.reduce((sum, { ms }) => sum + ms, 0),
    queries.map(({ text }) => text).join('\n'),
  ).toBe(growingMs());
  for (const { token } of charged) expect(token).toMatch(/^tok_/);
}

const paths = [...expectedOperations, ...expectedPages]
  .filter(
    ({ method, need, path }) => method === 'GET' && !['anyone', 'admin'].includes(need) && !path.endsWith('/events'),
  )
  .map(({ path }) => path);

test.each(paths)('charges all growing work of %s to the token of the request', async (path) => {
  const { visitor, token } = await signIn();
  const target = path
    .replace(/\{id\}|:id/, 'game')
    .replace(/\{name\}|:name/, 'seats')
    .replace(':path', 'a');
  const { status, text } = await visitor.get(target, { authorization: `Bearer ${token}` });
  expect([200, 303, 404, 422], text).toContain(status);
  expectCharged();
});

test.each([
  ['that comes too late', 'lock_game_a', 404],
  ['without a reason', 'lock_game_b', 422],
] as const)('charges all growing work of a release %s', async (_, lock, expected) => {
  const { visitor } = await signIn();
  const { status, text } = await visitor.post('/workspaces/game/locks/release', { lock });
  expect(status, text).toBe(expected);
  expect(growingMs()).toBeGreaterThan(0);
  expectCharged();
});

test.each(['/workspaces/game/locks/history.csv'])('each part of %s waits for the turn of its request', async (path) => {
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
});
