import { type AddressInfo, createServer, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { maxBodyBytes, parseLinks, readAnswer } from '../../src/client/answer.ts';
import { type Client, createClient, ServiceError, steadyClock } from '../../src/client/client.ts';
import { deprecationIn } from '../../src/client/deprecation.ts';
import { holderIn, readListedLock, readLock } from '../../src/client/known-lock.ts';
import { nextPage } from '../../src/client/pages.ts';
import { isOwnError, refusalOf, retryAfterOf, unusable } from '../../src/client/refusal.ts';
import { isStillRunning } from '../../src/client/retry.ts';
import { createServiceText } from '../../src/client/service-text.ts';
import { syncStateOf } from '../../src/client/sync.ts';
import { runs } from '../support/runs.ts';
import { game, hero, start, token, ttl } from './test-client.ts';

const whole = (bytes: Uint8Array) => ({ bytes, tooLarge: false, endIsUnsure: false });

const unseen = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;

const names = [
  ...['lock', 'locks', 'data', 'items', 'owner', 'holder', 'id', 'path', 'etag', 'type', 'detail', 'title', 'error'],
  ...['message', 'errors', 'field', 'loc', 'pointer', 'request_id', 'next', 'next_cursor', 'links', 'href', 'status'],
  ...['expires_at', 'acquired_at', 'sync_id', 'secret', 'hook', '__proto__', 'constructor', 'toString', 'length'],
];

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    token,
    `a${token}\n`,
    '\u0000',
    '\n::error::x',
    '\u202e',
    '/v1/x',
    '?p=2',
    'https://example.com/',
    '',
    '2026-03-01T12:00:00Z',
    '"x"',
  ),
);

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

const field = fc.oneof(
  text.map((each) => each.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '')),
  fc.constantFrom(
    'application/json',
    'text/html',
    'gzip',
    '<?p=2>; rel=next',
    '@1',
    'Bearer error="insufficient_scope", scope="x"',
    '5',
    '"a";r=0;t=3',
    '"a";q=10;w=60, "b";q=1',
  ),
);

const headerNames = [
  'content-type',
  'content-encoding',
  'link',
  'date',
  'age',
  'retry-after',
  'etag',
  'location',
  'www-authenticate',
  'x-request-id',
  'deprecation',
  'sunset',
  'ratelimit',
  'ratelimit-policy',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
];

const headers = fc.dictionary(fc.constantFrom(...headerNames), field, { noNullPrototype: true });

const status = fc.constantFrom(200, 201, 204, 302, 400, 401, 403, 404, 409, 412, 423, 429, 500, 503);

const isHarmless = (shown: string): void => {
  expect(shown).not.toMatch(unseen);
  expect(shown).not.toContain(token);
  expect(shown.length).toBeLessThan(8_000);
};

test('no answer is too strange to be read, or to be told in one harmless line', () => {
  const texts = createServiceText([token]);
  const baseUrl = new URL('https://assets.example.com/v1');
  fc.assert(
    fc.property(status, headers, body, (code, sent, bytes) => {
      const answer = readAnswer({ status: code, headers: sent, ...whole(bytes) }, texts);
      const value = answer.body.kind === 'json' ? answer.body.value : null;
      const refusal = refusalOf(answer, { baseUrl, serverNow: start, texts });
      const call = { method: 'GET', path: '/v1/x', attempts: 2 };
      isHarmless(new ServiceError(call, refusal).message);
      isHarmless(
        new ServiceError(call, { kind: 'deadline', last: refusal, retryAfterMs: retryAfterOf(answer, start) }).message,
      );
      const wrong = unusable(answer, texts);
      if (wrong !== undefined) isHarmless(new ServiceError(call, wrong).message);
      isHarmless(deprecationIn(answer, texts) ?? '');

      const lock = readListedLock(value, texts) ?? readLock(holderIn(answer) ?? {}, 'a', texts);
      isHarmless([lock.type, lock.id, lock.etag, lock.owner, lock.origin, lock.acquired_at, lock.expires_at].join(''));
      expect(lock.path).not.toMatch(/\p{Cc}/u);
      expect(JSON.stringify(lock)).not.toContain(token);
      const next = nextPage(answer, '/v1/workspaces', baseUrl);
      if (next.kind === 'page') expect(new URL(next.target, baseUrl).origin).toBe(baseUrl.origin);
      expect(typeof isStillRunning(answer, true)).toBe('boolean');
      expect(typeof isOwnError(answer)).toBe('boolean');
      expect(syncStateOf(JSON.stringify(value), {})).toMatch(/^(going-on|succeeded|failed)$/);
      expect(parseLinks(sent['link']).size).toBeLessThan(1_000);
    }),
    { numRuns: runs(500, 10_000) },
  );
});

test('a body that nests without end, or is one long word of brackets, takes no time to speak of', () => {
  const texts = createServiceText([token]);
  for (const unit of ['[', '{"a":', '<', '<!--', '<script>', '<html><script', '&lt', '\n', '\u202e', 'a ', '"']) {
    const bytes = new TextEncoder().encode(`<html>${unit.repeat(maxBodyBytes / 10 / unit.length)}`);
    const began = performance.now();
    readAnswer({ status: 200, headers: {}, ...whole(bytes) }, texts);
    readAnswer({ status: 200, headers: {}, ...whole(bytes.subarray(6)) }, texts);
    expect(performance.now() - began, unit).toBeLessThan(5_000);
  }
});

let answer: Buffer;
let clientOfARun: () => Client;
let closeServer: () => void;

beforeAll(async () => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', () => socket.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  clientOfARun = () => {
    // What it is told to wait passes at once.
    let slept = 0;
    return createClient({
      baseUrl: `http://127.0.0.1:${port}/v1`,
      token,
      userAgent: 'test',
      retries: 0,
      clock: () => steadyClock() + slept,
      sleep: async (ms) => {
        slept += ms;
      },
    });
  };
  closeServer = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
});
afterAll(() => closeServer());

const wire = fc.oneof(
  fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
  fc.tuple(status, headers, body).map(([code, sent, bytes]) => {
    const fields = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
    return Buffer.concat([Buffer.from(`HTTP/1.1 ${code} x\r\n${fields.join('')}\r\n`, 'latin1'), bytes]);
  }),
);

test('whatever bytes come over the connection, every operation ends, and ends as it says', async () => {
  await fc.assert(
    fc.asyncProperty(wire, async (bytes) => {
      answer = bytes;
      const client = clientOfARun();
      const within = { deadline: steadyClock() + 20_000 };
      const lock = { workspace: game, path: hero };
      const thrown = await Promise.all(
        [
          client.listWorkspaces(within),
          client.listLocks({ workspace: game }, within),
          client.startSync({ workspace: game, branch: 'main' }, within),
          client.registerHook({ workspace: game, url: 'https://ci.example.com/' }, within),
        ].map((operation) =>
          operation.then(
            () => undefined,
            (error: unknown) => error,
          ),
        ),
      );
      const results = await Promise.all([
        client.acquireLock({ ...lock, type: 'exclusive', ttl: ttl('1h'), idempotencyKey: 'k' }, within),
        client.releaseLock({ ...lock, proof: { id: 'l1' } }, within),
      ]);
      const errors = [...thrown, ...results.map((result) => ('error' in result ? result.error : undefined))];
      for (const error of errors.filter((each) => each !== undefined)) {
        expect(error).toBeInstanceOf(ServiceError);
        if (error instanceof ServiceError) isHarmless(error.message);
      }
      client.dispose();
    }),
    { numRuns: runs(40, 1_000) },
  );
});
