import { describe, expect, test } from 'vitest';
import type { HookRequest } from '../../src/client/client.ts';
import { json, nothing, page, problem, raw } from '../support/other-servers/answers.ts';
import { type Answer, startOtherServer } from '../support/other-servers/other-server.ts';
import { errorOf, game, testClient } from './test-client.ts';

const url = 'https://ci.example.com/hook';

const register = async (answer: Answer, more: Partial<HookRequest> = {}) => {
  const server = await startOtherServer(answer);
  const client = testClient(server.baseUrl);
  return { server, hook: client.registerHook({ workspace: game, url, ...more }, client.within()) };
};

describe('a hook is registered', () => {
  test.each([
    ['its url alone', {}, { url }],
    [
      'events and a secret',
      { events: ['sync.failed'], secret: 's3cret' },
      { url, events: ['sync.failed'], secret: 's3cret' },
    ],
    [
      'options merged in, which do not go before',
      { events: ['a'], options: { branches: ['main'], events: ['b'], url: 'x' } },
      { branches: ['main'], events: ['a'], url },
    ],
  ])('with %s', async (_, more, body) => {
    const { server, hook } = await register(json(201, { id: 'h1' }), more);
    await hook;
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual(body);
  });

  test.each([
    ['201', json(201, { id: 'h1' }), { hook_id: 'h1', replaced: false }],
    ['200, where it was there before', json(200, { hook_id: 7 }), { hook_id: '7', replaced: true }],
    ['a wrapper', json(201, { webhook: { id: 'h1' } }), { hook_id: 'h1' }],
    ['nothing', nothing(204), { hook_id: undefined }],
    ['a word', raw(201, 'created'), { hook_id: undefined }],
  ])('by an answer of %s', async (_, answer, expected) => {
    expect(await (await register(answer)).hook).toMatchObject({ madeSecret: undefined, ...expected });
  });

  test('and a secret that the service made is handed over, to be masked', async () => {
    expect((await (await register(json(201, { id: 'h1', secret: 'whsec_abc' }))).hook).madeSecret).toBe('whsec_abc');
  });

  test('and a secret that was given does not come back', async () => {
    const { hook } = await register(json(201, { id: 'h1', secret: 'whsec_abc' }), { secret: 'whsec_abc' });
    expect(await hook).toEqual({ hook_id: 'h1', replaced: false, madeSecret: undefined });
  });

  test('not by a page that says 200', async () => {
    expect((await errorOf((await register(page(200))).hook)).failure.kind).toBe('not-json');
  });
});

test.each([
  ['the secret', { secret: 'whsec_abc' }, 'whsec_abc'],
  ['a secret among the options', { options: { secret: 'whsec_abc' } }, 'whsec_abc'],
  ['the value of a header', { options: { headers: { authorization: 'Basic YWRhOmE=' } } }, 'Basic YWRhOmE='],
])('%s that the service repeats is not in the error', async (_, more, secret) => {
  const { hook } = await register(problem(422, { detail: `This is weak: ${secret}` }), more);
  expect((await errorOf(hook)).message).toMatch(/^This is weak: \*\*\* \(/);
});
