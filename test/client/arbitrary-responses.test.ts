import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMarks, isStillRunning } from '../../src/client/classify.ts';
import { ServiceError } from '../../src/client/client.ts';
import { holderIn, readListedLock, readLock } from '../../src/client/known-lock.ts';
import { nextPage } from '../../src/client/pages.ts';
import { refusalOf, retryAfterHeader, unusable } from '../../src/client/refusal.ts';
import { deprecationIn, parseLinks, parseResponse } from '../../src/client/response.ts';
import { createSanitizer } from '../../src/client/sanitizer.ts';
import { readSync } from '../../src/client/sync.ts';
import { runs } from '../support/runs.ts';
import { start, token } from './test-client.ts';

const unseen = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;

const names = [
  ...['lock', 'locks', 'data', 'items', 'owner', 'holder', 'id', 'path', 'etag', 'type', 'detail', 'title', 'error'],
  ...['message', 'errors', 'field', 'loc', 'pointer', 'request_id', 'next', 'next_cursor', 'links', 'href', 'status'],
  ...['expires_at', 'acquired_at', 'sync_id', 'secret', 'hook', '__proto__', 'constructor', 'toString', 'length'],
];

const texts = [
  ...[token, `a${token}\n`, '\u0000', '\n::error::x', '\u202e', '/v1/x', '?p=2', 'https://example.com/', '', '"x"'],
  '2026-03-01T12:00:00Z',
];
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...texts));

const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.constant(null),
    fc.boolean(),
    fc.double(),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...names), tie('json'), { maxKeys: 6 }),
  ),
}));

const body = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  json.map((value) => new TextEncoder().encode(JSON.stringify(value) ?? '')),
  text.map((each) => new TextEncoder().encode(`<html>${each}<script>${each}</script><!--${each}`)),
);

const fields = [
  ...['application/json', 'text/html', 'gzip', '<?p=2>; rel=next', '@1', '5', '"a";r=0;t=3', '"a";q=10;w=60, "b";q=1'],
  ...['"a";r=', 'r=;t', '9'.repeat(400)],
  'Bearer error="insufficient_scope", scope="x"',
];
const field = fc.oneof(
  text.map((each) => each.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '')),
  fc.constantFrom(...fields),
);

const headerNames = [
  ...['content-type', 'content-encoding', 'link', 'date', 'age', 'retry-after', 'etag', 'location', 'www-authenticate'],
  ...['x-request-id', 'deprecation', 'sunset'],
];
const headers = fc.dictionary(fc.constantFrom(...headerNames), field, { noNullPrototype: true });

const status = fc.constantFrom(200, 201, 204, 302, 400, 401, 403, 404, 409, 412, 423, 429, 500, 503);

const isHarmless = (shown: string): void => {
  expect(shown).not.toMatch(unseen);
  expect(shown).not.toContain(token);
  expect(shown.length).toBeLessThan(8_000);
};

test('reads any response, and describes it in one harmless line', () => {
  const safe = createSanitizer([token]);
  const baseUrl = new URL('https://assets.example.com/v1');
  const call = { method: 'GET', path: '/v1/x', attempts: 2 };
  fc.assert(
    fc.property(status, headers, body, (code, sent, bytes) => {
      const answer = parseResponse(
        { status: code, headers: sent, bytes, tooLarge: false, mayBeTruncated: false },
        safe,
      );
      const value = answer.body.kind === 'json' ? answer.body.value : null;
      const refusal = refusalOf(answer, { baseUrl, serverNow: start });
      const late = { kind: 'deadline', last: refusal, retryAfterMs: retryAfterHeader(answer, start) } as const;
      const wrong = unusable(answer) ?? refusal;
      for (const failure of [refusal, late, wrong]) {
        const { message, request } = new ServiceError(call, failure);
        isHarmless(message);
        // The request comes last, whatever text the service sends.
        expect(message.endsWith(` (${request}).`)).toBe(true);
      }
      isHarmless(deprecationIn(answer) ?? '');

      const lock = readListedLock(value, safe) ?? readLock(holderIn(answer) ?? {}, 'a', safe);
      isHarmless([lock.type, lock.id, lock.etag, lock.owner, lock.origin, lock.acquired_at, lock.expires_at].join(''));
      expect(lock.path).not.toMatch(/\p{Cc}/u);
      expect(JSON.stringify(lock)).not.toContain(token);
      const next = nextPage(answer, '/v1/workspaces', baseUrl);
      if (next.kind === 'target') expect(new URL(next.target, baseUrl).origin).toBe(baseUrl.origin);
      expect(typeof isStillRunning(answer, true)).toBe('boolean');
      expect(typeof createMarks(undefined).isFromService(answer)).toBe('boolean');
      expect(readSync({ status: value }, safe).state).toMatch(/^(running|succeeded|failed)$/);
      expect(parseLinks(sent['link']).size).toBeLessThan(1_000);
    }),
    { numRuns: runs(500, 10_000) },
  );
});
