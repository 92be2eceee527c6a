import fc from 'fast-check';
import { hostileText } from '../action/report/texts.ts';

/** The token of the steps; services repeat it in their responses. */
export const token = 'wsa_0123456789abcdef0123456789abcdef';

const commands = [
  '::stop-commands::x',
  '::set-output name=acquired::true',
  '::notice::x',
  '\n::set-env name=A::x',
  '\r::add-path::/tmp',
  '\u2028::save-state name=step::x',
  '##[set-output name=status]acquired',
  'x##[add-matcher]x.json',
  '%0A::notice::x',
  'acquired<<end-1\ntrue\nend-1\n',
];

const moments = [
  '+275760-09-13T00:00:00.000Z',
  '-271821-04-20T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '0000-01-01T00:00:00Z',
  '2026-02-30T25:61:00Z',
  '2026-03-01T12:00:00Z',
  '2099-03-01T12:00:00.001+14:00',
  'Sat, 13 Sep 275760 00:00:00 GMT',
  'Fri, 31 Dec 9999 23:59:59 GMT',
  'Thu, 01 Jan 1970 00:00:00 GMT',
];

export const text = fc.oneof(
  { weight: 3, arbitrary: hostileText },
  { weight: 2, arbitrary: fc.tuple(hostileText, fc.constantFrom(...commands)).map((both) => both.join('')) },
  { weight: 2, arbitrary: fc.constantFrom(...commands, ...moments, '', 'a', 'b', token, `${token}\u001b]0;x\u0007`) },
  { weight: 1, arbitrary: fc.constantFrom('x'.repeat(20_000), '::error::'.repeat(3_000), '\ud83d'.repeat(5_000)) },
);

const number = fc.oneof(
  fc.double(),
  fc.constantFrom(0, -1, 1e21, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER, 8.64e15, 8.64e12, 253_402_300_799_999, 1e-7),
);

const memberNames = [
  'id',
  'path',
  'owner',
  'name',
  'lock',
  'error',
  'message',
  'detail',
  'errors',
  'data',
  '__proto__',
];

const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...memberNames), text), tie('json'), { maxKeys: 4 }),
  ),
}));

/** JSON of any shape. */
export const anyJson = json;

/** Mostly a text, like most members of the API. */
export const value = fc.oneof({ weight: 4, arbitrary: text }, { weight: 1, arbitrary: json });

const moment = fc.oneof(fc.constantFrom(...moments), number, value);

/** An object with some of these members. */
const some = <T>(members: Record<string, fc.Arbitrary<T>>) =>
  fc.record(members, { requiredKeys: [], noNullPrototype: true });

export const lock = some<unknown>({
  id: value,
  path: fc.oneof(fc.constantFrom('a', 'b'), value),
  type: value,
  owner: fc.oneof(value, some({ name: value, login: value })),
  origin: value,
  etag: value,
  acquired_at: moment,
  expires_at: moment,
  fence: number,
});

const next = fc.oneof(fc.constantFrom('2', '?cursor=3', '/v1/workspaces?cursor=4', 'https://other.example/'), value);

/** A page of a list under the name of its resource, or under another name. */
export const page = (name: string, entry: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .record({
      name: fc.constantFrom(name, name, 'items', 'data', 'results'),
      entries: fc.array(fc.oneof(entry, value), { maxLength: 4 }),
      more: some<unknown>({ next_cursor: next, next, links: some({ next }), has_more: fc.boolean() }),
    })
    .map(({ name: under, entries, more }) => ({ [under]: entries, ...more }));

export const problem = some<unknown>({
  type: fc.oneof(fc.constant('urn:workspace-automation:problem:request-in-progress'), value),
  title: value,
  status: number,
  detail: fc.oneof(value, fc.array(some({ loc: fc.array(value, { maxLength: 3 }), msg: value }), { maxLength: 3 })),
  request_id: value,
  message: value,
  error: fc.oneof(value, some<unknown>({ message: value, code: value, lock })),
  errors: fc.oneof(
    value,
    fc.array(fc.oneof(value, some({ pointer: value, field: value, detail: value, message: value })), { maxLength: 8 }),
    fc.dictionary(text, value, { maxKeys: 3 }),
  ),
  lock,
  locks: fc.array(lock, { maxLength: 2 }),
  holder: value,
});

export const sync = some<unknown>({
  sync_id: value,
  status: fc.oneof(fc.constantFrom('queued', 'running', 'succeeded', 'failed', 'completed'), value),
  branch: value,
  estimated_objects: number,
  received_objects: number,
  head: value,
  error: fc.oneof(value, some({ message: value })),
  status_url: fc.oneof(fc.constantFrom('/v1/progress', 'https://other.example/x'), value),
});

export const hook = some<unknown>({ id: value, secret: value, hook: some({ id: value, secret: value }) });

export const asBytes = (content: Uint8Array | string): string => Buffer.from(content).toString('latin1');

export const anyBytes = (maxLength: number): fc.Arbitrary<string> => fc.uint8Array({ maxLength }).map(asBytes);

/** Data that a server may send instead of a body. A character stands for a byte, to keep counterexamples readable. */
const notJson = fc.oneof(
  anyBytes(300),
  text.map((each) => asBytes(`<!doctype html><title>${each}</title><script>${each}</script>${each}`)),
  text.map(asBytes),
  fc.constantFrom(
    '',
    '['.repeat(100_000),
    `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`,
    '{"locks":[{"path":"a","expires_at":1e999,"id":-1e999}],"next":1e999}',
    '\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff\x1b[2J',
    '\xff\xfe"\xc3(\xed\xa0\x80\x1b[2J"',
  ),
);

/** A header value: an invalid one would only end the connection. */
const field = fc.oneof(
  {
    weight: 3,
    arbitrary: text.map((each) =>
      Buffer.from(each, 'latin1')
        .toString('latin1')
        .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '')
        .slice(0, 4_000),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...moments,
      '0',
      '1',
      '9'.repeat(400),
      '1e9',
      '-1',
      '@99999999999',
      'gzip',
      'br, gzip',
      'application/json',
      'application/problem+json; charset=utf-7',
      'text/html',
      '"x"',
      'W/"x"',
      '<?cursor=2>; rel="next"',
      '<//other.example/x>; rel=next',
      '/v1/progress',
      'http://[',
      'Bearer error="insufficient_scope", scope="::notice::x"',
      'true',
    ),
  },
);

const headerNames = [
  ...['content-type', 'content-encoding', 'transfer-encoding', 'content-length', 'date', 'age', 'retry-after', 'etag'],
  ...['location', 'link', 'www-authenticate', 'x-request-id', 'deprecation', 'sunset', 'idempotency-replayed', 'x'],
];

export const headers = fc.dictionary(fc.constantFrom(...headerNames), field, { maxKeys: 5, noNullPrototype: true });

const statuses = [200, 201, 202, 204, 301, 303, 304, 400, 401, 403, 404, 405, 408, 409, 410, 412, 413, 414, 422, 423];
export const status = fc.constantFrom(...statuses, 425, 429, 500, 502, 503, 504, 299, 599, 199, 999);

/** A complete HTTP response, as sent over the wire. */
export const response = (
  code: fc.Arbitrary<number>,
  body: fc.Arbitrary<unknown>,
  fields: fc.Arbitrary<Record<string, string>> = headers,
): fc.Arbitrary<string> =>
  fc
    .tuple(code, fields, fc.oneof({ weight: 6, arbitrary: body.map(asJson) }, { weight: 1, arbitrary: notJson }))
    .map(([given, sent, content]) => {
      const lines = Object.entries(sent).map(([name, text]) => `${name}: ${text}\r\n`);
      const head = `HTTP/1.1 ${given} ::notice::x\r\nconnection: close\r\n${lines.join('')}\r\n`;
      return head + content;
    });

const asJson = (content: unknown): string => asBytes(JSON.stringify(content) ?? '');

/** Data that is not an HTTP response at all. */
export const noise = fc.oneof(
  anyBytes(200),
  fc.constantFrom(
    '',
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    `HTTP/1.1 200 x\r\n${'x: \u001b[2J\r\n'.repeat(3_000)}\r\n`,
    'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100),
    'HTTP/1.1 200 x\r\ntransfer-encoding: chunked\r\n\r\nffffffffff\r\n::notice::x',
    'HTTP/1.1 200 x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n{}',
    'HTTP/1.1 200 x\r\ncontent-length: 99999\r\ncontent-type: application/json\r\n\r\n{"locks":[',
  ),
);
