import { describe, expect, test } from 'vitest';
import type { Answer } from '../support/other-servers/other-server.ts';
import { inTurn, json, nothing, page, problem, raw } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { clientOf, errorOf, game, token } from './test-client.ts';

const refusal = async (answer: Answer) => {
  const { client } = await clientOf(answer, { retries: 0 });
  return errorOf(client.listBranches({ workspace: game }, client.within()));
};

const request = 'GET /v1/workspaces/game/branches';

/** Sends an endless text, and counts the characters. */
function withoutEnd(status: number, type: string, chunk: string) {
  const sent = { characters: 0 };
  const answer: Answer = (response) => {
    response.writeHead(status, { 'content-type': type });
    const more = (): void => {
      while (response.writable && sent.characters < 1_000_000_000) {
        sent.characters += chunk.length;
        if (!response.write(chunk)) break;
      }
      response.once('drain', more);
    };
    more();
  };
  return { answer, sent };
}

const pageWithStyle =
  '<!DOCTYPE html><head><title>a</title><style>b{}</style><script>c()</script><!-- d --></head><body><p>Sign <b>in</b></p></body>';

test.each<[string, Answer, string | undefined]>([
  ['detail', json(418, { type: 'about:blank', title: 'Broken', detail: 'The pipe broke.' }), 'The pipe broke.'],
  ['title', json(418, { title: 'Broken pipe' }), 'Broken pipe'],
  ['error.message', json(418, { error: { code: 12, message: 'Broken pipe' } }), 'Broken pipe'],
  ['error', json(418, { error: 'broken_pipe' }), 'broken_pipe'],
  ['message', json(418, { message: 'Broken pipe' }), 'Broken pipe'],
  ['error and message', json(418, { error: 'Teapot', message: 'Broken pipe' }), 'Teapot: Broken pipe'],
  ['error and its description', json(418, { error: 'x', error_description: 'Too old' }), 'x: Too old'],
  ['a JSON string', json(418, 'Broken pipe'), 'Broken pipe'],
  ['plain text', raw(418, 'Broken\r\n  pipe'), 'Broken pipe'],
  ['a page', page(418), "418 I'm a Teapot nginx/1.27.0"],
  ['a page without its styles, scripts and comments', raw(418, pageWithStyle), 'Sign in'],
  ['an empty body', nothing(418), undefined],
  ['an empty object', json(418, {}), undefined],
  ['empty strings', json(418, { message: '', error: null }), undefined],
  ['an overlong text', json(418, { message: 'x'.repeat(1_000) }), `${'x'.repeat(499)}…`],
  ['control characters', json(418, { message: 'a\u0000b\n::c\u001b[31m\u202ed\u2028e' }), 'a b ::c [31m d e'],
])('takes the message of the service from %s', async (_, answer, message) => {
  const reason = message?.replace(/(?<![.…])$/, '.') ?? 'The service refused the request.';
  expect(await refusal(answer)).toMatchObject({ status: 418, reason, failure: { kind: 'refused' } });
});

test('takes the message of the service from the start of an endless body', async () => {
  const { reason } = await refusal(withoutEnd(418, 'text/plain', 'no '.repeat(100_000)).answer);
  expect(reason).toMatch(/^no no no .*…$/);
});

describe('the list of invalid fields', () => {
  test.each([
    ['problem details', { errors: [{ pointer: '#/a/b', detail: 'Too long' }] }, ' a/b: Too long.'],
    ['strings', { errors: ['Too long', 'Too wide'] }, ' Too long. Too wide.'],
    ['invalid entries', { errors: [null, {}, []] }, ''],
  ])('is read from %s', async (_, body, fields) => {
    expect((await refusal(json(422, body))).reason).toBe(`The service refused the request.${fields}`);
  });

  test('is appended to the message, unless the message contains it already', async () => {
    const errors = [
      { pointer: '#/path', detail: 'A path must not be empty.' },
      { pointer: '#/ttl', detail: 'It is missing.' },
    ];
    const { message } = await refusal(problem(422, { detail: 'path: A path must not be empty.', errors }));
    expect(message).toBe(`path: A path must not be empty. ttl: It is missing (${request}: 422 Unprocessable Entity).`);
  });

  test('is limited in length', async () => {
    const { message } = await refusal(json(422, { errors: Array.from({ length: 5_000 }, (_, n) => `Wrong ${n}`) }));
    expect(message).toMatch(/Wrong 4 \(GET [^)]+\)\.$/);
  });
});

test.each<readonly [string, Answer]>([
  ['the body', json(418, { request_id: 'req_1' }, { 'x-request-id': 'proxy_1' })],
  ['a header', nothing(418, { 'X-Request-Id': 'req_1' })],
  ['a redirect', nothing(301, { location: '/', 'x-request-id': 'req_1' })],
])('finds the request id in %s, and includes it in the message', async (_, answer) => {
  const error = await refusal(answer);
  expect(error.request).toContain('request id req_1');
  expect(error.message).toContain(', request id req_1)');
});

describe('the client', () => {
  const insufficient = 'Bearer realm="x", error="insufficient_scope", scope="locks:read"';

  const refused = (detail: string, scope: string) => problem(403, { detail }, { 'www-authenticate': scope });
  const invalid = (message: string) => json(401, { message });

  test.each([
    ['names the missing scope of the token', refused('No.', insufficient), 'that has the scope locks:read ('],
    ['suggests no scopes for another reason', refused('No.', 'Bearer scope="locks:read"'), 'No ('],
    ['says what to do about an invalid token', invalid('Bad'), 'Bad. The token may have expired or been revoked: '],
  ])('%s', async (_, answer, told) => {
    expect((await refusal(answer)).message).toContain(told);
  });

  const spread = `${token.slice(0, 9)}\u200b${token.slice(9)} ${token.split('').join('\u0000')}`;
  test.each([
    ['the message', json(400, { detail: `No such token: Bearer ${token}!` })],
    ['a page', raw(400, `<html><body>${token}</body></html>`)],
    ['the request id', nothing(400, { 'x-request-id': token })],
    ['a field', json(422, { errors: [{ field: token, message: `${token} is wrong` }] })],
    ['a scope', nothing(403, { 'www-authenticate': `Bearer error="insufficient_scope", scope="${token}"` })],
    ['the target of a redirect', nothing(302, { location: `https://example.com/${token}?t=${token}` })],
    ['an object', json(200, { [token]: token })],
    ['plain text', raw(200, token)],
    ['the content type', raw(200, 'x', { 'content-type': token })],
    ['the content encoding', raw(200, 'x', { 'content-encoding': token })],
    ['the message, split by invisible characters', json(400, { detail: spread })],
    ['the end of a long message', json(400, { detail: `${'x'.repeat(480)}${token}` })],
  ])('hides a token in the error if it is returned in %s', async (_, answer) => {
    const error = await refusal(answer);
    expect(JSON.stringify([error.message, error.stack, error.failure])).not.toContain(token);
    expect(JSON.stringify([error.message, error.failure])).not.toContain(token.slice(0, 12));
  });

  test('hides a token in values read from a response', async () => {
    const { client } = await clientOf(json(200, [{ name: 'main', by: `Bearer ${token}`, [token]: 1 }]));
    const { items } = await client.listBranches({ workspace: game }, client.within());
    expect(items).toEqual([{ name: 'main', raw: { name: 'main', by: 'Bearer ***', '***': 1 } }]);
  });

  test('hides a token that is a short word in errors, but leaves read values unchanged', async () => {
    const credentials = { kind: 'static', token: 'dev' } as const;
    const { client } = await clientOf(inTurn(json(200, ['develop']), json(400, { detail: 'dev!' })), { credentials });
    expect((await client.ask()).items[0]?.name).toBe('develop');
    expect((await errorOf(client.ask())).message).toMatch(/^\*\*\*! /);
  });

  test('neither sends a token with a line break nor shows it in the error', async () => {
    const credentials = { kind: 'static', token: 'secret\r\nX-Other: 1' } as const;
    const { server, client } = await clientOf(json(200, []), { credentials });
    await expect(client.ask()).rejects.toThrow(/^Invalid character in header content \["authorization"\]$/);
    expect(server.requests).toHaveLength(0);
  });
});

describe('a redirect', () => {
  test.each([301, 302, 303, 307, 308])(
    'is not followed with status %i, and the error names its target',
    async (status) => {
      const other = await startOtherServer(json(200, []));
      const error = await refusal(nothing(status, { location: `${other.origin}/v2/workspaces?token=1#x` }));
      expect(other.requests).toHaveLength(0);
      expect(error.status).toBe(status);
      expect(error.message).toContain(`to ${other.origin}/v2/workspaces. Redirects are not followed`);
    },
  );

  test.each([
    ['a path', '../elsewhere?x=1', /^The service redirects to http:\/\/127\.0\.0\.1:\d+\/elsewhere\. /],
    [
      'a user and a password',
      'https://ada:secret@example.com/',
      /^The service redirects to https:\/\/example\.com\/\. /,
    ],
  ])('is reported by origin and path if it leads to %s', async (_, location, target) => {
    expect((await refusal(nothing(302, { location }))).reason).toMatch(target);
  });

  test('is reported as well if it has no target', async () => {
    expect((await refusal(nothing(302))).message).toBe(
      `The service redirects. Redirects are not followed, because they would expose the token. Set the base URL to the actual URL of the service (${request}: 302 Found).`,
    );
  });
});

test('rejects a response over 32 MiB, and stops receiving it', async () => {
  const { answer, sent } = withoutEnd(200, 'application/json', `[${'"x",'.repeat(100_000)}`);
  const { server, client } = await clientOf(answer);
  const error = await errorOf(client.listBranches({ workspace: game }, client.within()));
  expect([error.failure.kind, error.isTransient]).toEqual(['unusable', false]);
  expect(error.message).toMatch(
    /^The response cannot be used: it is larger than 32 MiB\. It starts with: \["x","x".* \(GET \S+: 200 OK\)\.$/,
  );
  expect(sent.characters).toBeLessThan(100_000_000);
  expect(server.requests).toHaveLength(1);
});
