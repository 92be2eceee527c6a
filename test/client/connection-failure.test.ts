import { describe, expect, test } from 'vitest';
import { connectionFailure } from '../../src/client/connection.ts';
import { createSanitizer } from '../../src/client/sanitizer.ts';
import { json, page, problem, raw } from '../support/other-servers/responses.ts';
import { clientOf, errorOf } from './test-client.ts';

const sanitizer = createSanitizer([]);
const withCode = (error: Error, code: string): Error => Object.assign(error, { code });

describe('a connection failure', () => {
  test.each([
    withCode(new Error('read ECONNRESET'), 'ECONNRESET'),
    withCode(new Error('getaddrinfo EAI_AGAIN'), 'EAI_AGAIN'),
    withCode(new AggregateError([new Error('connect ECONNREFUSED')]), 'ECONNREFUSED'),
    withCode(new Error('Parse Error: Expected HTTP/'), 'HPE_INVALID_CONSTANT'),
    withCode(new Error('Premature close'), 'ERR_STREAM_PREMATURE_CLOSE'),
    withCode(new Error('the names differ'), 'ERR_TLS_CERT_ALTNAME_INVALID'),
    withCode(new Error('self-signed certificate'), 'DEPTH_ZERO_SELF_SIGNED_CERT'),
  ])('is recognized by its code: $message', (error) => {
    expect(connectionFailure(error, sanitizer)?.failure.kind).toBe('connection');
  });

  test.each([
    new TypeError('x is not a function'),
    new RangeError('Maximum call stack size exceeded'),
    new Error('a plain error'),
    withCode(new TypeError('Invalid character in header'), 'ERR_INVALID_CHAR'),
    withCode(new Error('Cannot set headers'), 'ERR_HTTP_HEADERS_SENT'),
    withCode(new Error("Cannot find module './1.index.js'"), 'MODULE_NOT_FOUND'),
    'a text',
  ])('is not confused with a bug in the client: %s', (error) => {
    expect(connectionFailure(error, sanitizer)).toBeUndefined();
  });
});

test.each([
  [
    'ECONNREFUSED',
    'connect ECONNREFUSED ::1:4',
    'nothing is listening on its host and port (connect ECONNREFUSED ::1:4)',
  ],
  ['ECONNRESET', 'socket hang up', 'it closed the connection (ECONNRESET)'],
  ['EPIPE', 'write EPIPE', 'write EPIPE'],
])('explains the code %s of %s to users, if it is the reason', (code, message, expected) => {
  expect(connectionFailure(withCode(new Error(message), code), sanitizer)?.failure.reason).toBe(
    `The connection to the server failed: ${expected}.`,
  );
});

describe('the error for a wrong base URL', () => {
  test.each([
    ['a page', page(404)],
    ['an empty body', raw(404, '')],
    ['the JSON of a framework', json(404, { message: 'Cannot GET /wrong/v1/workspaces' })],
  ])('suggests checking the URL for a 404 with %s', async (_, response) => {
    const { client } = await clientOf(response, { retries: 0 });
    expect((await errorOf(client.ask())).message).toContain(' Check the base URL');
  });

  test('does not mention the URL if the service itself reports an unknown workspace', async () => {
    const { client } = await clientOf(
      problem(404, { type: 'urn:workspace-automation:problem:not-found', detail: 'There is no workspace "x".' }),
    );
    expect((await errorOf(client.ask())).message).not.toContain('base URL');
  });
});
