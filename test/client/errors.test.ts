import { describe, expect, test } from 'vitest';
import { inTurn, json, nothing, page, problem, raw } from '../support/other-servers/answers.ts';
import { type Answer, startOtherServer } from '../support/other-servers/other-server.ts';
import { errorOf, game, testClient, token } from './test-client.ts';

const refusal = async (answer: Answer) => {
  const server = await startOtherServer(answer);
  const client = testClient(server.baseUrl, { retries: 0 });
  return errorOf(client.listBranches({ workspace: game }, client.within()));
};

const ofRefusal = async (answer: Answer) => {
  const { failure } = await refusal(answer);
  if (failure.kind !== 'refused') throw new Error(`It is ${failure.kind}.`);
  return failure;
};

describe('the words of a service', () => {
  test.each([
    ['detail', { type: 'about:blank', title: 'Broken', detail: 'The pipe is broken.' }, 'The pipe is broken.'],
    ['title', { title: 'Broken pipe' }, 'Broken pipe'],
    ['error.message', { error: { code: 12, message: 'Broken pipe' } }, 'Broken pipe'],
    ['error', { error: 'broken_pipe' }, 'broken_pipe'],
    ['message', { message: 'Broken pipe' }, 'Broken pipe'],
    ['error beside message', { statusCode: 418, error: 'Teapot', message: 'Broken pipe' }, 'Teapot: Broken pipe'],
    ['error and its description', { error: 'invalid_grant', error_description: 'Too old' }, 'invalid_grant: Too old'],
    ['a bare text', 'Broken pipe', 'Broken pipe'],
  ])('are found in %s', async (_, body, words) => {
    expect(await ofRefusal(json(418, body))).toMatchObject({ status: 418, words });
  });

  test.each([
    ['plain text', raw(418, 'Broken\r\n  pipe'), 'Broken pipe'],
    ['a page', page(418), "418 I'm a Teapot 418 I'm a Teapot nginx/1.27.0"],
    [
      'a page with entities, scripts and comments',
      raw(418, '<!DOCTYPE html><style>a{}</style><script>b()</script><!-- c --><p>Sign&nbsp;in &amp; <b>out</b></p>'),
      'Sign in & out',
    ],
    ['nothing', nothing(418), undefined],
    ['an empty object', json(418, {}), undefined],
    ['an empty text', json(418, { message: '', error: null }), undefined],
    ['what is too long', json(418, { message: 'x'.repeat(1_000) }), `${'x'.repeat(499)}…`],
    [
      'control characters',
      json(418, { message: 'a\u0000b\n::error::c\u001b[31m\u202ed\u2028e' }),
      'a b ::error::c [31m d e',
    ],
  ])('are made of %s', async (_, answer, words) => {
    expect((await ofRefusal(answer)).words).toBe(words);
  });

  test('are read from the beginning of a body without end', async () => {
    const { words } = await ofRefusal((response) => {
      response.writeHead(418, { 'content-type': 'text/plain' });
      const more = (): void => {
        while (response.writable && response.write('no '.repeat(100_000)));
        if (response.writable) response.once('drain', more);
      };
      more();
    });
    expect(words).toMatch(/^no no no .*…$/);
  });
});

describe('the fields that were wrong', () => {
  test.each([
    [
      'problem details',
      { errors: [{ pointer: '#/hook/url', detail: 'Too long.' }] },
      [{ field: 'hook/url', detail: 'Too long.' }],
    ],
    [
      'fields and messages',
      { errors: [{ field: 'ttl', message: 'Too long' }] },
      [{ field: 'ttl', detail: 'Too long' }],
    ],
    [
      'bare texts',
      { errors: ['Too long', 'Too wide'] },
      [
        { field: undefined, detail: 'Too long' },
        { field: undefined, detail: 'Too wide' },
      ],
    ],
    [
      'lists by field',
      { errors: { ttl: ['Too long', 'Too wide'] } },
      [
        { field: 'ttl', detail: 'Too long' },
        { field: 'ttl', detail: 'Too wide' },
      ],
    ],
    ['texts by field', { errors: { ttl: 'Too long' } }, [{ field: 'ttl', detail: 'Too long' }]],
    [
      'places in the body',
      { detail: [{ loc: ['body', 'ttl'], msg: 'Too long' }] },
      [{ field: 'body/ttl', detail: 'Too long' }],
    ],
    [
      'details of an error',
      { error: { message: 'No', details: [{ path: 'ttl', message: 'Too long' }] } },
      [{ field: 'ttl', detail: 'Too long' }],
    ],
    [
      'sources',
      { errors: [{ source: { pointer: '/data/ttl' }, title: 'Too long' }] },
      [{ field: 'data/ttl', detail: 'Too long' }],
    ],
    ['what is none', { errors: [1, null, {}, []] }, []],
  ])('are found in %s', async (_, body, fields) => {
    expect((await ofRefusal(json(422, body))).fields).toEqual(fields);
  });

  test('stand in the sentence, unless the words have them already', async () => {
    const fields = [
      { pointer: '#/path', detail: 'A path must not be empty.' },
      { pointer: '#/ttl', detail: 'It is missing.' },
    ];
    const { message } = await refusal(problem(422, { detail: 'path: A path must not be empty.', errors: fields }));
    expect(message).toBe(
      'path: A path must not be empty. ttl: It is missing (GET /v1/workspaces/game/branches: 422 Unprocessable Entity).',
    );
  });

  test('are not told without end', async () => {
    const { message } = await refusal(json(422, { errors: Array.from({ length: 5_000 }, (_, n) => `Wrong ${n}`) }));
    expect(message).toMatch(/Wrong 4\. And 15 more \(GET [^)]+\)\.$/);
  });
});

describe('the request id', () => {
  test.each([
    ['the body', json(418, { request_id: 'req_1' }, { 'x-request-id': 'proxy_1' }), 'req_1'],
    ['the error in the body', json(418, { error: { message: 'x', requestId: 'req_1' } }), 'req_1'],
    ['X-Request-Id', nothing(418, { 'X-Request-Id': 'req_1' }), 'req_1'],
    ['Request-Id', nothing(418, { 'Request-Id': 'req_1' }), 'req_1'],
    ['X-Correlation-Id', nothing(418, { 'X-Correlation-ID': 'req_1' }), 'req_1'],
    ['X-Amzn-RequestId', nothing(418, { 'x-amzn-RequestId': 'req_1' }), 'req_1'],
  ])('is found in %s, and stands in the sentence', async (_, answer, id) => {
    const error = await refusal(answer);
    expect(error.requestId).toBe(id);
    expect(error.message).toContain(`, request id ${id})`);
  });
});

describe('a token', () => {
  test('without a scope: the error names the scope', async () => {
    const challenge = 'Bearer realm="x", error="insufficient_scope", scope="locks:read"';
    const error = await refusal(problem(403, { detail: 'This is not allowed.' }, { 'www-authenticate': challenge }));
    expect(error.failure).toMatchObject({ missingScope: 'locks:read' });
    expect(error.message).toBe(
      'This is not allowed. Use a token that has the scope locks:read (GET /v1/workspaces/game/branches: 403 Forbidden).',
    );
  });

  test('that may not for another reason: no scope is made up', async () => {
    const error = await refusal(nothing(403, { 'www-authenticate': 'Bearer scope="locks:read"' }));
    expect(error.failure).toMatchObject({ missingScope: undefined });
    expect(error.message).toBe('The service refused the request (GET /v1/workspaces/game/branches: 403 Forbidden).');
  });

  test('that is not valid: the error says what to do', async () => {
    expect((await refusal(json(401, { message: 'Bad token' }))).message).toMatch(
      /^Bad token\. The token may have expired or been revoked: create a new one, and update the secret \(GET \S+: 401 Unauthorized\)\.$/,
    );
  });

  const spread = `${token.slice(0, 9)}\u200b${token.slice(9)}`;
  test.each([
    ['words', json(400, { detail: `No such token: Bearer ${token}!` })],
    ['a page', raw(400, `<html><body>${token}</body></html>`)],
    ['the request id', nothing(400, { 'x-request-id': token })],
    ['a field', json(422, { errors: [{ field: token, message: `${token} is wrong` }] })],
    ['a scope', nothing(403, { 'www-authenticate': `Bearer error="insufficient_scope", scope="${token}"` })],
    ['the target of a redirect', nothing(302, { location: `https://example.com/${token}?t=${token}` })],
    ['another object', json(200, { [token]: token })],
    ['text', raw(200, token)],
    ['its type', raw(200, 'x', { 'content-type': token })],
    ['its coding', raw(200, 'x', { 'content-encoding': token })],
    ['words, cut by what is not seen', json(400, { detail: `${spread} ${token.split('').join('\u0000')}` })],
    ['the end of long words', json(400, { detail: `${'x'.repeat(480)}${token}` })],
  ])('that comes back in %s is not in the error', async (_, answer) => {
    const error = await refusal(answer);
    expect(JSON.stringify([error.message, error.stack, error.failure])).not.toContain(token);
    expect(JSON.stringify([error.message, error.failure])).not.toContain(token.slice(0, 12));
  });

  test('is not in what was read from an answer', async () => {
    const server = await startOtherServer(json(200, [{ name: 'main', by: `Bearer ${token}`, [token]: 1 }]));
    const client = testClient(server.baseUrl);
    const { items } = await client.listBranches({ workspace: game }, client.within());
    expect(items).toEqual([{ name: 'main', raw: { name: 'main', by: 'Bearer ***', '***': 1 } }]);
  });

  test('that is a short word does not change what was read, but is in no error', async () => {
    const server = await startOtherServer(inTurn(json(200, ['develop']), json(400, { detail: 'dev!' })));
    const client = testClient(server.baseUrl, { token: 'dev' });
    const { items } = await client.listBranches({ workspace: game }, client.within());
    expect(items[0]?.name).toBe('develop');
    expect((await errorOf(client.listWorkspaces(client.within()))).message).toMatch(/^\*\*\*! /);
  });

  test('with a line break is not sent, and the error does not show it', async () => {
    const server = await startOtherServer(json(200, []));
    const client = testClient(server.baseUrl, { token: 'secret\r\nX-Other: 1' });
    const error = await errorOf(client.listWorkspaces(client.within()));
    expect(error.message).toBe(
      'The request cannot be sent: the header authorization has characters that no header can have (GET /v1/workspaces).',
    );
    expect(server.requests).toHaveLength(0);
  });
});

describe('a redirect', () => {
  test.each([301, 302, 303, 307, 308])('with %i is not followed, and the error names its target', async (status) => {
    const other = await startOtherServer(json(200, []));
    const error = await refusal(nothing(status, { location: `${other.origin}/v2/workspaces?token=1#x` }));
    expect(other.requests).toHaveLength(0);
    expect(error.failure).toMatchObject({ kind: 'redirected', status, target: `${other.origin}/v2/workspaces` });
    expect(error.message).toContain(`to ${other.origin}/v2/workspaces. Redirects are not followed`);
  });

  test.each([
    ['a path', '../elsewhere?x=1', /^http:\/\/127\.0\.0\.1:\d+\/elsewhere$/],
    ['a user and a password', 'https://ada:secret@example.com/', /^https:\/\/example\.com\/$/],
  ])('to %s is named by origin and path', async (_, location, target) => {
    expect((await refusal(nothing(302, { location }))).failure).toMatchObject({
      target: expect.stringMatching(target),
    });
  });

  test('has a status and a request id', async () => {
    const error = await refusal(nothing(301, { location: '/', 'x-request-id': 'req_1' }));
    expect(error).toMatchObject({ status: 301, requestId: 'req_1' });
  });

  test('that names no target is one all the same', async () => {
    expect((await refusal(nothing(302))).message).toBe(
      'The service redirects. Redirects are not followed, because the token would travel with them: use the address where the service really is (GET /v1/workspaces/game/branches: 302 Found).',
    );
  });
});

test('an answer over 10 MiB is refused, and no more of it is received', async () => {
  let sent = 0;
  const server = await startOtherServer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const chunk = `[${'"x",'.repeat(100_000)}`;
    const more = (): void => {
      while (response.writable && sent < 1_000_000_000) {
        sent += chunk.length;
        if (!response.write(chunk)) break;
      }
      response.once('drain', more);
    };
    more();
  });
  const client = testClient(server.baseUrl);
  const error = await errorOf(client.listBranches({ workspace: game }, client.within()));
  expect(error.failure.kind).toBe('too-large');
  expect(error.message).toMatch(
    /^The answer cannot be used: it is longer than 10 MiB\. It begins with: \["x","x".* \(GET \S+: 200 OK\)\.$/,
  );
  expect(sent).toBeLessThan(100_000_000);
  expect(server.requests).toHaveLength(1);
});

test('an error is a sentence with words, method, path, status and request id', async () => {
  const { message } = await refusal(problem(404, { detail: 'There is no such workspace.', request_id: 'req_7' }));
  expect(message).toBe(
    'There is no such workspace (GET /v1/workspaces/game/branches: 404 Not Found, request id req_7).',
  );
});
