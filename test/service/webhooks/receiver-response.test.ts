import fc from 'fast-check';
import { expect, test } from 'vitest';
import { completeResponse, type ReadResponse } from '../../../src/service/webhooks/receiver-response.ts';
import { runs } from '../../support/runs.ts';

function whole(given: Partial<ReadResponse>, secrets: readonly string[] = []) {
  const response = completeResponse(
    { status: 200, headers: {}, body: Buffer.alloc(0), isCut: false, ...given },
    secrets,
  );
  if (response.kept !== 'whole') throw new Error('It was not kept.');
  return response;
}

test('at most 1,024 bytes of well-formed text are kept of a body, without controls, and a cut is reported', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 3_000 }).map((array) => Buffer.from(array)),
    fc.string({ unit: 'grapheme', maxLength: 1_500 }).map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(bytes, fc.boolean(), (body, isCut) => {
      const { body: shown, bodyIsCut } = whole({ body, isCut });
      expect(shown.isWellFormed()).toBe(true);
      expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(1_024);
      expect(shown).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      if (isCut) expect(bodyIsCut).toBe(true);
      // Text that fits is not cut: every character takes at most four bytes.
      else if (bodyIsCut) expect(Buffer.byteLength(shown)).toBeGreaterThan(1_020);
      else expect([...shown]).toHaveLength([...new TextDecoder().decode(body).replaceAll('\r\n', '\n')].length);
    }),
    { numRuns: runs(300, 10_000) },
  );
});

test('lines and tabs stay, and everything else that moves, hides or reorders text is replaced', () => {
  const body = Buffer.from('one\r\n\ttwo\rthree\u0000\u001b[31m\u202e\u2028\u0085é');
  expect(whole({ body })).toEqual({
    kept: 'whole',
    status: 200,
    headers: {},
    body: 'one\n\ttwo\nthree\ufffd\ufffd[31m\ufffd\ufffd\ufffdé',
    bodyIsCut: false,
  });
});

test('a few headers are kept in a readable length, and a redirect is kept without its query', () => {
  const { headers } = whole({
    headers: {
      'content-type': 'text/html',
      location: 'https://login.example.com/in?token=t0ken#more',
      'retry-after': '120',
      server: `nginx\u0085${'x'.repeat(1_000)}`,
      'set-cookie': ['session=s'],
      'x-anything': 'else',
      'www-authenticate': 'Basic realm="x"',
    },
  });
  expect(headers).toEqual({
    'content-type': 'text/html',
    location: 'https://login.example.com/in?…',
    'retry-after': '120',
    server: `nginx\ufffd${'x'.repeat(250)}`,
  });
});

test('secrets of the request are redacted before the response is cut, in headers as well', () => {
  const secret = 'a-credential-of-the-hook';
  const { body, headers } = whole(
    {
      body: Buffer.from(`${secret}${'x'.repeat(1_024 - 3 - 10)}${secret}`),
      headers: { 'x-request-id': `for ${secret}` },
    },
    [secret],
  );
  expect(body).toBe(`***${'x'.repeat(1_011)}***`.slice(0, 1_024));
  expect(headers).toEqual({ 'x-request-id': 'for ***' });
});
