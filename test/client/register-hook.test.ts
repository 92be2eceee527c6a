import { describe, expect, test } from 'vitest';
import type { RegisterHookRequest } from '../../src/client/register-hook.ts';
import type { Answer } from '../support/other-servers/other-server.ts';
import { json, nothing, page, problem, raw } from '../support/other-servers/responses.ts';
import { clientOf, errorOf, game, unmarked } from './test-client.ts';

const url = 'https://ci.example.com/hook';
const secret = 'whsec_abc';

const register = async (response: Answer, more: Partial<RegisterHookRequest> = {}, options = {}) => {
  const { server, client } = await clientOf(response, options);
  return { server, hook: client.registerHook({ workspace: game, url, ...more }, client.within()) };
};

describe('the registration of a webhook', () => {
  const options = { branches: ['main'], events: ['b'], url: 'x' };

  test.each([
    ['its URL alone', {}, { url }],
    ['events and a secret', { events: ['sync.failed'], secret }, { url, events: ['sync.failed'], secret }],
    ['options that do not override inputs', { events: ['a'], options }, { branches: ['main'], events: ['a'], url }],
  ])('sends %s', async (_, more, body) => {
    const { server, hook } = await register(json(201, { id: 'h1' }), more);
    await hook;
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual(body);
  });

  const unnamed = { hook_id: undefined, madeSecret: undefined };
  const named = { ...unnamed, hook_id: 'h1' };

  test.each([
    ['201', json(201, { id: 'h1' }), {}, named],
    ['200 if it existed before', json(200, { hook_id: 7 }), {}, { ...named, hook_id: '7' }],
    ['an empty body', nothing(204), {}, unnamed],
    ['its URL', json(201, { url }), {}, unnamed],
    ['a generated secret', json(201, { id: 'h1', secret }), {}, { ...named, madeSecret: secret }],
    ['the given secret', json(201, { id: 'h1', secret }), { secret }, named],
  ])('succeeds with a response of %s', async (_, response, more, expected) => {
    expect(await (await register(response, more, unmarked)).hook).toEqual(expected);
  });

  test.each([
    ['a page', page(200)],
    ['plain text', raw(201, 'created')],
    ['other JSON', json(200, { status: 'maintenance' })],
  ])('fails with %s, which may come from a gateway', async (_, response) => {
    expect((await errorOf((await register(response)).hook)).failure.kind).toBe('unusable');
  });
});

test.each([
  ['the secret', { secret }, secret],
  ['a secret in the options', { options: { secret } }, secret],
  ['the value of a header', { options: { headers: { authorization: 'Basic YWRhOmE=' } } }, 'Basic YWRhOmE='],
])('hides %s in an error of the service', async (_, more, hidden) => {
  const { hook } = await register(problem(422, { detail: `This is weak: ${hidden}` }), more);
  expect((await errorOf(hook)).message).toMatch(/^This is weak: \*\*\* \(/);
});
