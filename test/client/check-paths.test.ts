import { expect, test } from 'vitest';
import { knowsNoRoute } from '../../src/client/service-error.ts';
import { json, page, problem } from '../support/other-servers/responses.ts';
import { clientOf, errorOf, game, hero, lockPath, ttl, unmarked } from './test-client.ts';

const outdated = {
  path: 'Content/Hero.uasset',
  branch: 'release/1.4',
  commit: '9fceb02d0ae598e95dc970b74767f19372d61af8',
  author: 'Ada\u001b[31m',
  at: '2026-03-01T12:00:00.000Z',
};

const read = { ...outdated, author: 'Ada [31m' };

const request = {
  ...{ workspace: game, path: hero, type: 'exclusive', ttl: ttl('1h'), idempotencyKey: 'k' },
};

test('a request for a lock names the branch, byte by byte', async () => {
  const { server, client } = await clientOf(json(201, { path: hero, id: '1' }), { branch: 'grün' });
  await client.acquireLock(request, client.within());
  const sent = server.requests.map(({ headers }) => headers['lock-branch']);
  expect(sent.map((value) => Buffer.from(String(value), 'latin1').toString())).toEqual(['grün']);
});

test('a lock that is refused for a newer version is not one that others hold', async () => {
  const refused = { kind: 'failed', error: { failure: { outdated: [read] } } };
  const { client } = await clientOf(problem(409, { detail: 'Merge release/1.4 first.', outdated }));
  expect(await client.acquireLock(request, client.within())).toMatchObject(refused);
  // A lease names all of its outdated files.
  const { client: other } = await clientOf(problem(409, { detail: 'Merge first.', outdated: [outdated] }));
  const lease = { lease: 'l'.repeat(16), paths: [hero], count: 1 } as const;
  expect(await other.putLease({ ...request, ...lease }, other.within())).toMatchObject(refused);
});

test('a lock that is granted on an outdated file is reported', async () => {
  const compared: unknown[] = [];
  const granted = { path: hero, id: '1', outdated, as_of: null };
  const { client } = await clientOf(json(201, granted), { onCompared: (comparison) => compared.push(comparison) });
  expect(await client.acquireLock(request, client.within())).toMatchObject({ kind: 'acquired' });
  expect(compared).toEqual([{ outdated: [read], as_of: null }]);
});

test('five hundred paths are checked with one request, more with several', async () => {
  const paths = Array.from({ length: 1_001 }, (_, index) => lockPath(`a${index}`));
  const locks = [{ path: 'a1', owner: 'ada' }, { path: 'a2', owner: 'bo' }, {}];
  const { server, client } = await clientOf(json(200, { locks }));
  const checked = await client.checkPaths({ workspace: game, paths: paths.slice(0, 500) }, client.within());
  expect(checked.map(({ owner }) => owner)).toEqual(['ada', 'bo']);
  expect(server.requests).toHaveLength(1);
  await client.checkPaths({ workspace: game, paths }, client.within());
  const lengths = server.requests.slice(1).map(({ body }) => JSON.parse(body).paths.length);
  expect(lengths.sort()).toEqual([1, 500, 500]);
});

test('the longest paths fit into the body limit of the service', async () => {
  const paths = Array.from({ length: 1_000 }, (_, index) => lockPath(`${index}`.padEnd(1_024, 'a')));
  const { server, client } = await clientOf(json(200, { locks: [] }));
  await client.checkPaths({ workspace: game, paths }, client.within());
  expect(Math.max(...server.requests.map(({ body }) => Buffer.byteLength(body)))).toBeLessThan(1_024 * 1_024);
  expect(server.requests.flatMap(({ body }) => JSON.parse(body).paths)).toHaveLength(1_000);
});

test('distinguishes a service without this request from one that fails', async () => {
  const { client } = await clientOf(page(404), unmarked);
  expect(knowsNoRoute(await errorOf(client.checkPaths({ workspace: game, paths: [hero] }, client.within())))).toBe(
    true,
  );
  const failing = (await clientOf(problem(403, { detail: 'No.' }))).client;
  const error = await errorOf(failing.checkPaths({ workspace: game, paths: [hero] }, failing.within()));
  expect([knowsNoRoute(error), error.message]).toEqual([false, expect.stringMatching(/^No/)]);
});
