import { expect, test } from 'vitest';
import type { Answer } from '../support/other-servers/other-server.ts';
import { json, nothing, page, problem, raw } from '../support/other-servers/responses.ts';
import { clientOf, errorOf, game, unmarked } from './test-client.ts';

type Client = Awaited<ReturnType<typeof clientOf>>['client'];

const poolOf = (client: Client) => client.getPool({ workspace: game, name: 'unity-pro' }, client.within());

const items = [{ path: 'seats/1', properties: { host: 'b1', cores: 8, rack: null }, secret: ['serial'] }];

test.each<[string, Answer]>([
  ['our shape', json(200, { name: 'unity-pro', items })],
  ['a bare array', json(200, items)],
])('a pool is read from %s', async (_, answer) => {
  const { server, client } = await clientOf(answer);
  expect(await poolOf(client)).toEqual({
    kind: 'found',
    items: [{ path: 'seats/1', properties: { host: 'b1', cores: '8' }, secret: ['serial'] }],
  });
  expect(server.requests.map(({ url }) => url)).toEqual(['/v1/workspaces/game/pools/unity-pro']);
});

test('items of a pool without a valid path do not count', async () => {
  const { client } = await clientOf(json(200, { items: [{ path: 'seats/1' }, { path: '../2' }, 7, {}] }));
  expect(await poolOf(client)).toMatchObject({ items: [{ path: 'seats/1', properties: {}, secret: [] }] });
});

test.each([{ serial: true }, 'serial', [{ name: 'serial' }], null])(
  'all properties of an item are secret if their names are %j',
  async (secret) => {
    const { client } = await clientOf(json(200, { items: [{ path: 'seats/1', properties: { serial: 'A' }, secret }] }));
    expect(await poolOf(client)).toMatchObject({ items: [{ secret: ['serial'] }] });
  },
);

test.each<[string, Answer]>([
  ['does not know the route', json(404, { error: 'no such route' })],
  ['allows no GET there', nothing(405)],
  ['implements nothing there', json(501, {})],
  ['answers 404 like a gateway', page(404)],
])('a service that %s has no pools', async (_, answer) => {
  const { client } = await clientOf(answer, unmarked);
  expect(await poolOf(client)).toMatchObject({ kind: 'unsupported' });
});

test('an unknown pool is an error in the words of the service', async () => {
  const { client } = await clientOf(problem(404, { detail: 'The workspace "game" has no pool "unity-pro".' }));
  expect((await errorOf(poolOf(client))).message).toMatch(/^The workspace "game" has no pool "unity-pro" \(GET /);
});

test('no error quotes a response with the items of a pool, which may contain secrets', async () => {
  for (const answer of [raw(200, '{"items":[{"serial":"s3cret"'), json(200, { s3cret: 's3cret' })]) {
    const { client } = await clientOf(answer);
    const { message } = await errorOf(poolOf(client));
    expect(message).toContain('The response cannot be used');
    expect(message).not.toContain('s3cret');
  }
});
