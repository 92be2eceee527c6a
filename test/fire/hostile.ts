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
  ...['+275760-09-13T00:00:00.000Z', '-271821-04-20T00:00:00Z', '9999-12-31T23:59:59.999Z', '0000-01-01T00:00:00Z'],
  ...['2026-02-30T25:61:00Z', '2026-03-01T12:00:00Z', '2099-03-01T12:00:00.001+14:00'],
  ...['Sat, 13 Sep 275760 00:00:00 GMT', 'Fri, 31 Dec 9999 23:59:59 GMT', 'Thu, 01 Jan 1970 00:00:00 GMT'],
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

/** The members that the client reads. */
const names = [
  ...['id', 'path', 'type', 'owner', 'name', 'origin', 'etag', 'acquired_at', 'expires_at', 'fence', 'title', 'detail'],
  ...['status', 'request_id', 'message', 'error', 'errors', 'pointer', 'field', 'loc', 'msg'],
  ...['lock', 'locks', 'holder'],
  ...['sync_id', 'branch', 'estimated_objects', 'received_objects', 'head', 'status_url', 'secret', 'hook', 'state'],
  ...['items', 'data', 'results', 'workspaces', 'branches', 'next_cursor', 'next', 'links', 'has_more', '__proto__'],
];

const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...names), text), tie('json'), { maxKeys: 4 }),
  ),
}));

/** Mostly a text, like most members of the API. */
export const value = fc.oneof({ weight: 4, arbitrary: text }, { weight: 1, arbitrary: json });

/** Values that lead deeper into the client. */
const usual: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  path: fc.constantFrom('a', 'b'),
  type: fc.constant('urn:workspace-automation:problem:request-in-progress'),
  acquired_at: fc.constantFrom(...moments),
  expires_at: fc.constantFrom(...moments),
  fence: number,
  status: fc.constantFrom('queued', 'running', 'succeeded', 'failed', 'completed'),
  received_objects: number,
  status_url: fc.constantFrom('/v1/progress', 'https://other.example/x'),
  next: fc.constantFrom('2', '?cursor=3', '/v1/workspaces?cursor=4', 'https://other.example/'),
};

const some = (members: readonly string[], deeper: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc.record(Object.fromEntries(members.map((name) => [name, fc.oneof(deeper[name] ?? usual[name] ?? value, value)])), {
    requiredKeys: [],
    noNullPrototype: true,
  });

const entry = some(names.slice(0, 12), {});
const entries = fc.array(fc.oneof(entry, value), { maxLength: 4 });
const lists = ['errors', 'locks', 'items', 'data', 'results', 'workspaces', 'branches'];

/** A resource, a problem or a page of a list, with some of their members. */
export const resource = some(names, {
  ...Object.fromEntries(lists.map((name) => [name, entries])),
  ...{ lock: entry, holder: entry, owner: entry, error: entry, hook: entry },
});

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

const fields = [
  ...['0', '1', '9'.repeat(400), '1e9', '-1', '@99999999999', 'gzip', 'br, gzip', 'application/json', 'text/html'],
  ...['application/problem+json; charset=utf-7', '"x"', 'W/"x"', '<?cursor=2>; rel="next"', 'true', 'http://['],
  ...['<//other.example/x>; rel=next', '/v1/progress', 'Bearer error="insufficient_scope", scope="::notice::x"'],
];

/** A header value: an invalid one would only end the connection. */
const field = fc.oneof(
  text.map((each) =>
    asBytes(each)
      .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '')
      .slice(0, 4_000),
  ),
  fc.constantFrom(...moments, ...fields),
);

const headerNames = [
  ...['content-type', 'content-encoding', 'transfer-encoding', 'content-length', 'date', 'age', 'retry-after', 'etag'],
  ...['location', 'link', 'www-authenticate', 'x-request-id', 'deprecation', 'sunset', 'x'],
];

const headers = fc.dictionary(fc.constantFrom(...headerNames), field, { maxKeys: 5, noNullPrototype: true });

/** A complete HTTP response, as sent over the wire. */
export const response = (status: fc.Arbitrary<number>, body: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  fc
    .tuple(status, headers, fc.oneof({ weight: 6, arbitrary: body.map(asJson) }, { weight: 1, arbitrary: notJson }))
    .map(([code, sent, content]) => {
      const lines = Object.entries(sent).map(([name, text]) => `${name}: ${text}\r\n`);
      return `HTTP/1.1 ${code} ::notice::x\r\nconnection: close\r\n${lines.join('')}\r\n${content}`;
    });

const asJson = (content: unknown): string => asBytes(JSON.stringify(content) ?? '');

const statuses = [200, 201, 202, 204, 301, 303, 304, 400, 401, 403, 404, 405, 408, 409, 410, 412, 413, 414, 422, 423];

/** Any response that may come back for any request, or what is no response at all. */
export const anything = fc.oneof(
  response(fc.constantFrom(...statuses, 425, 429, 500, 502, 503, 504, 299, 599, 199, 999), fc.oneof(json, resource)),
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
