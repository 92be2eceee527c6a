import { expect, test } from 'vitest';
import type { Answer } from '../support/other-servers/other-server.ts';
import { hangUp, json, nothing, page, problem, silence } from '../support/other-servers/responses.ts';
import { clientOf, game, hero } from './test-client.ts';

const request = { workspace: game, path: hero, seconds: 30 };
const applied = { 'preference-applied': 'wait=30' };
const free = { kind: 'free' };
const unsupported = { kind: 'unsupported' };
const ours = { path: hero, owner: 'grace' };
const otherPreference = { 'preference-applied': 'respond-async, no-wait' };

test.each<[string, Answer, object]>([
  ['waits and lists no lock', json(200, { locks: [] }, applied), free],
  ['waits, with other preferences', json(200, [], { 'preference-applied': 'return=minimal, WAIT' }), free],
  ['waits and lists another lock', json(200, { items: [{ path: 'Other.uasset' }] }, applied), free],
  ['quotes the applied wait', json(200, [], { 'preference-applied': 'respond-async; x, wait="30"' }), free],
  [
    'waits and returns the holder',
    json(200, { locks: [{ path: 'a' }, ours] }, applied),
    { kind: 'held', holder: ours },
  ],
  ['does not confirm the wait', json(200, { locks: [] }), unsupported],
  ['confirms another preference', json(200, { locks: [] }, otherPreference), unsupported],
  ['rejects listing', problem(403, { detail: 'No.' }, applied), unsupported],
  ['rejects the parameter', problem(422, { detail: 'No.' }), unsupported],
  ['is replaced by a page', page(200, applied), { kind: 'failed' }],
  ['is replaced by other JSON', json(200, { status: 'ok' }, applied), { kind: 'failed' }],
  ['is replaced by the 404 of a gateway', nothing(404), { kind: 'failed' }],
  ['drops the connection', hangUp, { kind: 'failed' }],
  ['fails', nothing(502), { kind: 'failed' }],
])('sends one request to wait for a release to a service that %s', async (_, answer, result) => {
  const { server, client } = await clientOf(answer);
  expect(await client.waitForRelease(request, client.within())).toMatchObject(result);
  expect(server.requests).toMatchObject([
    { method: 'GET', url: '/v1/workspaces/game/locks?path=Content%2FHero.uasset', headers: { prefer: 'wait=30' } },
  ]);
});

test('a response may take the requested time plus the timeout of one attempt', async () => {
  const late: Answer = (response) => {
    setTimeout(() => response.writeHead(200, applied).end('[]'), 700);
  };
  const { client } = await clientOf(late, { requestTimeoutMs: 100 });
  expect(await client.waitForRelease(request, client.within())).toEqual(free);
  const { client: impatient } = await clientOf(silence, { requestTimeoutMs: 100 });
  expect(await impatient.waitForRelease({ ...request, seconds: 1 }, impatient.within())).toEqual({ kind: 'failed' });
});

test('an abort signal ends the wait at once', async () => {
  const { server, client } = await clientOf(silence);
  const stop = new AbortController();
  const result = client.waitForRelease(request, client.within(60_000, stop.signal));
  await expect.poll(() => server.requests).toHaveLength(1);
  stop.abort();
  expect(await result).toEqual({ kind: 'failed' });
});
