import { gzipSync } from 'node:zlib';
import { writeRequest } from '../support/raw-http.ts';
import type { Random } from '../support/seed.ts';

/** The target of the requests of a misbehaving client. */
export interface Aim {
  readonly workspace: string;
  readonly token: string;
  /** The path that a smuggled request would lock: no one may ever hold it. */
  readonly smuggled: string;
}

export interface Garbage {
  readonly kind: string;
  /** The parts of the request, sent one after the other. */
  readonly pieces: readonly (string | Uint8Array)[];
  /** `refused`: the first response is 4xx. `unharmed`: whether there is a response or not, it is not a 5xx. */
  readonly expected: 'refused' | 'unharmed';
  /** Leaves the connection with a reset instead of an orderly close, or before any response. */
  readonly leaves?: 'reset' | 'at once';
}

const crlf = '\r\n';
const methods = ['GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND', 'BREW', 'get', ''];
const targets = [
  '/',
  '/healthz',
  '*',
  '//',
  '/%',
  '/%ff%fe',
  '/..%2f..%2fetc/passwd',
  'http://a/healthz',
  '/\u0000',
  '/v1/workspaces',
];
const versions = ['HTTP/1.1', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/9.9', 'HTP/1.1', '', 'HTTP/1.1 HTTP/1.1'];
/** Characters that affect a terminal: colors, titles, and the direction of text. */
const nasty = ['\u001b[31m', '\u009b31m', '\u202e', '\u0007', '\u2028', '{"level":50}\n', '\u007f', '\u0085'];

const pick = <T>(random: Random, list: readonly [T, ...T[]] | readonly T[]): T => {
  const chosen = list[Math.floor(random() * list.length)];
  if (chosen === undefined) throw new Error('There is nothing to pick from.');
  return chosen;
};
const bytes = (random: Random, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));

type Make = (random: Random, aim: Aim) => Omit<Garbage, 'kind'>;

const locks = ({ workspace }: Aim): string => `/v1/workspaces/${workspace}/locks`;

/** A request for a lock that is valid except for its body and some headers. */
const post = (aim: Aim, body: string | Uint8Array, headers: readonly string[] = []): Buffer =>
  writeRequest({
    method: 'POST',
    target: locks(aim),
    token: aim.token,
    headers: ['Content-Type: application/json', 'Connection: close', ...headers],
    body,
  });

/** A complete request, which is granted by any server that parses it as one. */
const hidden = (aim: Aim): Buffer => post(aim, JSON.stringify({ path: aim.smuggled, type: 'exclusive', ttl: '1h' }));

const withHidden = (aim: Aim, headers: readonly string[], body: string): Buffer =>
  Buffer.concat([
    Buffer.from(
      [
        `POST ${locks(aim)} HTTP/1.1`,
        'Host: a',
        `Authorization: Bearer ${aim.token}`,
        'Content-Type: application/json',
        ...headers,
        '',
        body,
      ].join(crlf),
    ),
    hidden(aim),
  ]);

/** Framings that one server reads as one request, and another as two (RFC 9112 section 11.2). */
const framings: readonly (readonly [readonly string[], string])[] = [
  [['Content-Length: 0', 'Transfer-Encoding: chunked'], `0${crlf}${crlf}`],
  [['Transfer-Encoding: chunked', 'Content-Length: 5'], `0${crlf}${crlf}`],
  [['Content-Length: 0', 'Content-Length: 1000'], ''],
  [['Content-Length: 0, 0'], ''],
  [['Content-Length: +0'], ''],
  [['Content-Length: 0x0'], ''],
  [['Content-Length: -1'], ''],
  [['Content-Length: 99999999999999999999999'], ''],
  [['Content-Length : 0'], ''],
  [['Transfer-Encoding: xchunked'], `0${crlf}${crlf}`],
  [['Transfer-Encoding : chunked'], `0${crlf}${crlf}`],
  [['Transfer-Encoding: chunked, identity'], `0${crlf}${crlf}`],
  [['Transfer-Encoding: identity, chunked, chunked'], `0${crlf}${crlf}`],
  [['Transfer-Encoding: chunked', 'Transfer-Encoding: x'], `0${crlf}${crlf}`],
  [['Transfer-Encoding:\u000bchunked'], `0${crlf}${crlf}`],
  [['X-A: b', ' Transfer-Encoding: chunked'], `0${crlf}${crlf}`],
  [['Transfer-Encoding: chunked'], `0;${'a'.repeat(40_000)}${crlf}${crlf}`],
  [['Transfer-Encoding: chunked'], `fffffffffffffffff${crlf}`],
  [['Transfer-Encoding: chunked'], `-1${crlf}`],
  [['Transfer-Encoding: chunked'], `0x0${crlf}${crlf}`],
  [['Transfer-Encoding: chunked'], `1\n{0\n\n`],
];

const encodings = ['gzip', 'deflate', 'br', 'zstd', 'compress', 'gzip, gzip', 'identity, gzip'];

/** Decompresses to a thousand times its size. */
const bomb = gzipSync(Buffer.alloc(1_000_000));

const otherShapes = [
  'null',
  '[]',
  '"path"',
  '1e999',
  '{"path":{"path":[]}}',
  '{"__proto__":{"path":"a"},"type":"exclusive","ttl":"1h"}',
  '{"path":"\\ud800","type":"exclusive","ttl":"1h"}',
  '{"path":"a\\u0000b","type":"exclusive","ttl":"1h"}',
  '{"path":"../..","type":"exclusive","ttl":"1h"}',
  '{"path":"a","type":"exclusive","ttl":"99999999999999999999d"}',
  `{"path":"${'a/'.repeat(5_000)}","type":"exclusive","ttl":"1h"}`,
];

const otherProtocols = [
  Buffer.from('16030100c8010000c40303', 'hex'),
  `PRI * HTTP/2.0${crlf}${crlf}SM${crlf}${crlf}`,
  `SSH-2.0-OpenSSH_9.6${crlf}`,
  `EHLO a${crlf}`,
  `*1${crlf}$4${crlf}PING${crlf}`,
  '\u0000\u0000\u0000\u0008\u0004\u00d2\u0016\u002f',
];

type Piece = string | Uint8Array;
type Pieces = (random: Random, aim: Aim) => Piece | readonly Piece[];

const making =
  (expected: Garbage['expected']) =>
  (pieces: Pieces, leaving: readonly Garbage['leaves'][] = []): Make =>
  (random, aim) => {
    const leaves = leaving.length === 0 ? undefined : pick(random, leaving);
    const made = pieces(random, aim);
    const all = typeof made === 'string' || made instanceof Uint8Array ? [made] : made;
    return { pieces: all, expected, ...(leaves && { leaves }) };
  };
const refused = making('refused');
const unharmed = making('unharmed');

const closing = 'Connection: close';
const begun = (line: string): string => `${line} HTTP/1.1${crlf}Host: a${crlf}`;

const makers: Readonly<Record<string, Make>> = {
  'bytes that are nothing': unharmed((random) => [bytes(random, 1 + Math.floor(random() * 200)), crlf + crlf]),
  'a request line of odd parts': unharmed(
    (random) =>
      `${pick(random, methods)} ${pick(random, targets)} ${pick(random, versions)}${crlf}Host: a${crlf}${closing}${crlf}${crlf}`,
  ),
  'a target with what terminals obey': refused((random) =>
    Buffer.from(`${begun(`GET /${pick(random, nasty)}${pick(random, nasty)}`)}${crlf}`),
  ),
  'a target with that, percent-encoded': refused((random) =>
    writeRequest({ target: `/${encodeURIComponent(pick(random, nasty))}%9b%1b`, headers: [closing] }),
  ),
  'an invalid header': refused((random) => {
    const header = pick(random, ['no colon', ': no name', 'X\u0000: a', 'X A: b', 'X: a\u0000b', `X: a\rb`]);
    return `${begun('GET /healthz')}${header}${crlf}${crlf}`;
  }),
  'an invalid Host': refused((random) => {
    const host = pick(random, ['a b', 'a/b', 'a@b', '[::1', 'a, b', `a${nasty[0]}`]);
    return writeRequest({ target: '/healthz', headers: [`Host: ${host}`, closing] });
  }),
  'a flood of headers': refused((random) =>
    Array.from({ length: 20 }, (_, index) =>
      index === 0 ? begun('GET /') : `X-${random()}: ${'a'.repeat(900)}${crlf}`.repeat(2),
    ),
  ),
  'one huge header': refused(() => `${begun('GET /')}X: ${'a'.repeat(60_000)}${crlf}${crlf}`),
  'a huge address': refused(() => `${begun(`GET /${'a'.repeat(60_000)}`)}${crlf}`),
  'a long address': refused(() => writeRequest({ target: `/${'%20'.repeat(4_000)}`, headers: [closing] })),
  'a request behind an ambiguous one': unharmed((random, aim) => withHidden(aim, ...pick(random, framings))),
  'an invalid token': refused((random, aim) => {
    const token = pick(random, ['Bearer', 'Basic YTpi', `Bearer wsa_${'A'.repeat(43)}`, `Bearer ${'a'.repeat(9_000)}`]);
    return writeRequest({ target: locks(aim), headers: [closing, `Authorization: ${token}`] });
  }),
  'a body that is not UTF-8': refused((random, aim) => {
    const odd = [Buffer.from([0xff, 0xc0, 0x80]), bytes(random, 20)];
    return post(aim, Buffer.concat([Buffer.from('{"path":"'), ...odd, Buffer.from('"}')]));
  }),
  'JSON that breaks off': refused((random, aim) => {
    const whole = JSON.stringify({ path: 'never', type: 'exclusive', ttl: '1h' });
    return post(aim, whole.slice(0, 1 + Math.floor(random() * (whole.length - 1))));
  }),
  'JSON that is deep': refused((random, aim) => {
    const brackets = [
      ['[', ']'],
      ['{"path":', '}'],
    ] as const;
    const [open, close] = pick(random, brackets);
    const depth = 1_000 + Math.floor(random() * 60_000);
    return post(aim, `${open.repeat(depth)}1${close.repeat(depth)}`);
  }),
  'JSON of another shape': refused((random, aim) => post(aim, pick(random, otherShapes))),
  'a body that is packed': refused((random, aim) => post(aim, bomb, [`Content-Encoding: ${pick(random, encodings)}`])),
  'a body of another type': refused((random, aim) => {
    const type = pick(random, ['text/plain', 'multipart/form-data; boundary=a', 'application/xml', 'a']);
    const headers = [`Content-Type: ${type}`, closing];
    return writeRequest({ method: 'POST', target: locks(aim), token: aim.token, headers, body: '{"path":"never"}' });
  }),
  'a body that is too large': refused((_random, aim) => post(aim, '', [`Content-Length: ${10 ** 9}`])),
  'an invalid identity token': refused((random) => {
    const odd = pick(random, [
      'a.b.c',
      `${'eyJ'.repeat(50_000)}.e.e`,
      '.'.repeat(9_000),
      '%ff',
      '',
      'a&subject_token=b',
    ]);
    const type = 'urn:ietf:params:oauth:';
    const body = `grant_type=${type}grant-type:token-exchange&subject_token_type=${type}token-type:jwt&subject_token=${odd}`;
    const headers = ['Content-Type: application/x-www-form-urlencoded', closing];
    return writeRequest({ method: 'POST', target: '/v1/token', headers, body });
  }),
  'a body that never comes': unharmed(
    (_random, aim) => post(aim, '{"path":', ['Content-Length: 1000']),
    ['reset', 'at once'],
  ),
  'an invalid key': refused((_random, aim) =>
    post(aim, '{"path":"never","type":"exclusive","ttl":"1h"}', [`Idempotency-Key: ${'k'.repeat(300)}`]),
  ),
  'an end in the middle of the headers': unharmed(() => `${begun('GET /healthz')}X-`, ['reset', 'at once']),
  'a reset before the answer': unharmed(
    (_random, aim) => writeRequest({ target: `${locks(aim)}?limit=1000`, token: aim.token }),
    ['reset'],
  ),
  'CONNECT, and a reset': unharmed(() => `${begun('CONNECT a:443')}${crlf}`, ['reset']),
  'many requests at once': refused(() => {
    const first = Array.from({ length: 19 }, () => writeRequest({ target: '/nothing' }));
    return Buffer.concat([...first, writeRequest({ target: '/nothing', headers: [closing] })]);
  }),
  'other protocols': refused((random) => [pick(random, otherProtocols), crlf + crlf]),
};

/** Yields one item of each kind in turn, randomly varied. */
export function* garbage(random: Random, aim: Aim): Generator<Garbage> {
  for (;;) for (const [kind, make] of Object.entries(makers)) yield { kind, ...make(random, aim) };
}

export const kindsOfGarbage = Object.keys(makers);
