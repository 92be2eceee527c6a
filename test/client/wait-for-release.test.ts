import { describe, expect, test, vi } from 'vitest';
import { hangUp, json, nothing, page, problem, silence } from '../support/other-servers/answers.ts';
import { startOtherServer } from '../support/other-servers/other-server.ts';
import { game, hero, testClient } from './test-client.ts';

const request = { workspace: game, path: hero, seconds: 30 };
const applied = { 'preference-applied': 'wait=30' };
const ours = { path: hero, owner: 'grace' };

async function waiting(answer: Parameters<typeof startOtherServer>[0]) {
  const server = await startOtherServer(answer);
  const client = testClient(server.baseUrl);
  const result = await client.waitForRelease(request, client.within());
  return { result, server };
}

test('the service is asked to hold its answer back, for one path', async () => {
  const { server } = await waiting(json(200, { locks: [] }, applied));
  expect(server.requests).toMatchObject([
    { method: 'GET', url: '/v1/workspaces/game/locks?path=Content%2FHero.uasset', headers: { prefer: 'wait=30' } },
  ]);
});

describe('a service that has waited', () => {
  test.each([
    ['wait=30', { locks: [] }],
    ['return=minimal, WAIT', []],
    ['respond-async; x, wait="30"', { items: [{ path: 'Other.uasset' }] }],
  ])('(%s) says that the path is free when no lock on it is listed', async (preference, body) => {
    const { result } = await waiting(json(200, body, { 'preference-applied': preference }));
    expect(result).toEqual({ kind: 'free' });
  });

  test('says who holds it otherwise', async () => {
    const { result } = await waiting(json(200, { locks: [{ path: 'a' }, ours] }, applied));
    expect(result).toMatchObject({ kind: 'held', holder: ours });
  });
});

describe('a service does not wait', () => {
  test.each([
    ['that does not say that it has', json(200, { locks: [] })],
    ['that names another preference', json(200, { locks: [] }, { 'preference-applied': 'respond-async, no-wait' })],
    ['that lets nobody list', problem(403, { detail: 'No.' }, applied)],
    ['that knows no such parameter', problem(422, { detail: 'No.' })],
    ['that shows a page', page(200, applied)],
    ['that lists nothing', json(200, { status: 'ok' }, applied)],
  ])('%s', async (_, answer) => {
    const { result, server } = await waiting(answer);
    expect(result).toEqual({ kind: 'unsupported' });
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ['a lost connection', hangUp],
    ['a failure', nothing(502)],
  ])('for anybody after %s, which is not tried again', async (_, answer) => {
    const { result, server } = await waiting(answer);
    expect(result).toEqual({ kind: 'failed' });
    expect(server.requests).toHaveLength(1);
  });
});

test('an answer may take as long as was asked for, and one attempt on top of it', async () => {
  const server = await startOtherServer((response) => {
    setTimeout(() => response.writeHead(200, applied).end('[]'), 700);
  });
  const client = testClient(server.baseUrl, { requestTimeoutMs: 100 });
  expect(await client.waitForRelease({ ...request, seconds: 30 }, client.within())).toEqual({ kind: 'free' });
  const quiet = await startOtherServer(silence);
  const impatient = testClient(quiet.baseUrl, { requestTimeoutMs: 100 });
  expect(await impatient.waitForRelease({ ...request, seconds: 1 }, impatient.within())).toEqual({ kind: 'failed' });
});

test('a signal ends it at once', async () => {
  const server = await startOtherServer(silence);
  const stop = new AbortController();
  const client = testClient(server.baseUrl);
  const result = client.waitForRelease(request, client.within(60_000, stop.signal));
  await vi.waitFor(() => expect(server.requests).toHaveLength(1));
  stop.abort();
  expect(await result).toEqual({ kind: 'failed' });
});
