import { expect, test } from 'vitest';
import { knowsNoRoute } from '../../src/client/service-error.ts';
import { json, page, problem } from '../support/other-servers/responses.ts';
import { clientOf, game, hero, ofKind, ttl, unmarked } from './test-client.ts';

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

test('distinguishes a service without leases from one that fails', async () => {
  const lease = { ...request, lease: 'l'.repeat(16), paths: [hero], count: 1 } as const;
  const { client } = await clientOf(page(404), unmarked);
  const unknown = ofKind(await client.putLease(lease, client.within()), 'failed');
  expect(knowsNoRoute(unknown.error)).toBe(true);
  const failing = (await clientOf(problem(403, { detail: 'No.' }))).client;
  const { error } = ofKind(await failing.putLease(lease, failing.within()), 'failed');
  expect([knowsNoRoute(error), error.message]).toEqual([false, expect.stringMatching(/^No/)]);
});
