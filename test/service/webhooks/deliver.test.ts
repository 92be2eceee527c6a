import http from 'node:http';
import { expect, test } from 'vitest';
import type { Answer } from '../../support/other-servers/other-server.ts';
import { drip, nothing, raw, reset, say, silence } from '../../support/other-servers/responses.ts';
import { always, checking, deliverTo, failed, nowhere, receiver, secret } from './delivering.ts';
import { verified } from './hooked-service.ts';

test('a delivery arrives unchanged, and its signature is valid', async () => {
  const to = await receiver();
  expect(await deliverTo(to.url('/hook?a=b'))).toEqual({ kind: 'delivered' });
  const delivery = await to.nextDelivery();
  expect(delivery).toMatchObject({ method: 'POST', url: '/hook?a=b' });
  expect(delivery.headers).toMatchObject({
    host: `127.0.0.1:${to.port}`,
    authorization: 'Bearer s3cret',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(delivery.body)),
    connection: 'close',
  });
  expect(delivery.headers).not.toHaveProperty('transfer-encoding');
  expect(verified(secret, delivery)).toMatchObject({ type: 'sync.succeeded' });
});

test('every 2xx is a success, 410 ends the hook, and any other status is a failure', async () => {
  const to = await receiver();
  const answered = (status: number) => {
    to.behave(raw(status, 'Bearer s3cret is not known here'));
    return deliverTo(to.url());
  };
  for (const status of [200, 201, 202, 299]) {
    expect(await answered(status)).toEqual({ kind: 'delivered' });
  }
  expect(await answered(410)).toMatchObject({ kind: 'gone' });
  for (const status of [400, 401, 404, 409, 429, 500, 502, 503]) {
    const reason = `http://127.0.0.1:${to.port} responded with the status ${status}.`;
    expect(await answered(status)).toEqual({ kind: 'failed', reason });
  }
});

test.each([301, 302, 303, 307, 308])('the redirect %i is not followed', async (status) => {
  const [to, elsewhere] = [await receiver(), await receiver()];
  to.behave(nothing(status, { location: elsewhere.url('/s3cret') }));
  const { reason } = failed(await deliverTo(to.url()));
  expect(reason).toContain('Redirects are not followed');
  expect(reason).not.toContain('s3cret');
  expect(elsewhere.connections.opened).toBe(0);
});

const notHttp = 'SSH-2.0-s3cret\r\n';
const longHead = `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(100_000)}`;
const early = 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n';
const upgrade = 'HTTP/1.1 101 S\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n';

test.each<[string, Answer, string, number?]>([
  ['never answers', silence, 'it did not respond within 2 s.', 2_000],
  ['answers a byte at a time', drip('head'), 'did not respond within 2 s.', 2_000],
  ['resets the connection', reset, 'it closed the connection'],
  ['closes the connection', say(''), 'it closed the connection'],
  ['stops within the head', say('HTTP/1.1 200 OK\r\nx-a'), 'it closed the connection'],
  ['does not speak HTTP', say(notHttp), '(HPE_INVALID_CONSTANT)'],
  ['sends a head that is too long', say(longHead), 'HPE_HEADER_OVERFLOW'],
  ['sends many interim responses', say(early.repeat(1_200)), 'it sent more than 64 KB, and the connection was cut.'],
  ['switches to another protocol', say(upgrade), 'the connection was closed.'],
])(
  'a receiver that %s fails the attempt with a reason, and without secrets',
  async (_, behaviour, expected, timeoutMs = 15_000) => {
    const to = await receiver();
    to.behave(behaviour);
    const { reason } = failed(await deliverTo(to.url('/s3cret?token=s3cret'), { timeoutMs }));
    expect(reason).toContain(`http://127.0.0.1:${to.port} `);
    expect(reason).toContain(expected);
    expect(reason).not.toContain('s3cret');
    expect(reason).not.toContain(secret);
    await expect.poll(() => to.sockets.size).toBe(0);
  },
);

test('the caller can cancel an attempt before it starts and while it waits', async () => {
  const to = await receiver();
  to.behave(silence);
  const calling = new AbortController();
  const attempt = deliverTo(to.url(), { signal: calling.signal });
  await to.nextDelivery();
  calling.abort();
  expect(await attempt).toEqual({ kind: 'cancelled' });
  await expect.poll(() => to.sockets.size).toBe(0);

  const connections = to.connections.opened;
  expect(await deliverTo(to.url(), { signal: calling.signal })).toEqual({ kind: 'cancelled' });
  expect(to.connections.opened).toBe(connections);
});

test('a name that does not resolve, or resolves too slowly, fails the attempt', async () => {
  const url = 'https://hooks.example.com/s3cret';
  expect(failed(await deliverTo(url)).reason).toBe(
    'The delivery to https://hooks.example.com failed: its host name could not be resolved.',
  );
  const silent = checking(() => new Promise(() => {}));
  expect(failed(await deliverTo(url, { check: silent, timeoutMs: 20 })).reason).toBe(
    'The delivery to https://hooks.example.com failed: it did not respond within 0.02 s.',
  );
});

test('a name is reached at any of its IP addresses', async () => {
  const to = await receiver();
  // Nothing listens at this port on the other loopback address.
  const check = checking(always('127.0.0.9', '127.0.0.1'));
  const outcome = await deliverTo(`http://ci.internal:${to.port}/`, { check });
  expect(outcome.kind).toBe('delivered');
  expect((await to.nextDelivery()).headers.host).toBe(`ci.internal:${to.port}`);
});

test('an invalid or forbidden target is refused without a connection', async () => {
  const to = await receiver();
  for (const url of ['https://a:s3cret@b/', `http://127.0.0.1:${to.port}/s3cret`, `https://[::1]:${to.port}/s3cret`]) {
    const outcome = await deliverTo(url, { check: checking(nowhere, []) });
    const reason = expect.stringMatching(/ leads to |user name or a password/);
    expect(outcome).toMatchObject({ kind: 'failed', reason });
    expect(JSON.stringify(outcome)).not.toContain('s3cret');
  }
  expect(to.connections.opened).toBe(0);
  const plain = await deliverTo('http://hooks.example.com/', { check: checking(always('1.1.1.1')) });
  expect(plain).toHaveProperty('reason', expect.stringContaining('use https'));
});

test('a proxy from the environment is not used, because it could reach unchecked addresses', async () => {
  const [to, proxy] = [await receiver(), await receiver()];
  const restore = http.setGlobalProxyFromEnv({ http_proxy: proxy.url('') });
  try {
    expect((await deliverTo(to.url())).kind).toBe('delivered');
  } finally {
    restore();
  }
  expect(proxy.connections.opened).toBe(0);
  expect(to.deliveries).toHaveLength(1);
});
