import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { deliver } from '../../../src/service/webhooks/deliver.ts';
import { startWebhookReceiver } from '../../support/webhook-receiver.ts';
import { failed, localCheck, receiver, requestTo, secret, statusOnly } from './delivering.ts';

test('a delivery arrives as it was made, and verifies', async () => {
  const to = await receiver();
  expect(await deliver(requestTo(to.url('/hook?a=b')), { check: localCheck })).toEqual({
    kind: 'delivered',
    answer: statusOnly(204),
  });
  const delivery = await to.nextDelivery();
  expect(delivery).toMatchObject({ method: 'POST', path: '/hook?a=b' });
  expect(delivery.headers).toMatchObject({
    host: `127.0.0.1:${to.port}`,
    authorization: 'Bearer s3cret',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(delivery.body)),
    connection: 'close',
  });
  expect(delivery.headers).not.toHaveProperty('transfer-encoding');
  const {
    'webhook-id': id = '',
    'webhook-timestamp': at = '',
    'webhook-signature': by = '',
  } = Object.fromEntries(Object.entries(delivery.headers).map(([name, value]) => [name, String(value)]));
  const sent = { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': by };
  expect(new Webhook(secret).verify(delivery.body, sent)).toMatchObject({ type: 'sync.succeeded' });
});

test.each([200, 201, 202, 299])('%i is delivered', async (status) => {
  const to = await receiver();
  to.behave({ does: 'answer', status, body: 'thanks' });
  expect(await deliver(requestTo(to.url()), { check: localCheck })).toEqual({
    kind: 'delivered',
    answer: statusOnly(status),
  });
});

test.each([400, 401, 404, 409, 429, 500, 502, 503])('%i is a failure', async (status) => {
  const to = await receiver();
  to.behave({ does: 'answer', status, body: 'Bearer s3cret is not known here' });
  expect(await deliver(requestTo(to.url()), { check: localCheck })).toEqual({
    kind: 'failed',
    answer: statusOnly(status),
    why: `http://127.0.0.1:${to.port} answered with the status ${status}.`,
  });
});

test('410 ends the hook', async () => {
  const to = await receiver();
  to.behave({ does: 'answer', status: 410 });
  expect(await deliver(requestTo(to.url()), { check: localCheck })).toEqual({ kind: 'gone', answer: statusOnly(410) });
});

test('a receiver that is busy says when to come back', async () => {
  const to = await receiver();
  to.behave(
    { does: 'answer', status: 503, headers: { 'retry-after': '120' } },
    { does: 'answer', status: 429, headers: { 'retry-after': 'Wed, 04 Mar 2026 10:01:00 GMT' } },
  );
  const terms = { check: localCheck, now: () => new Date('2026-03-04T10:00:00Z') };
  expect(failed(await deliver(requestTo(to.url()), terms)).retryAfterSeconds).toBe(120);
  expect(failed(await deliver(requestTo(to.url()), terms)).retryAfterSeconds).toBe(60);
});

test.each([301, 302, 303, 307, 308])('the redirect %i is not followed', async (status) => {
  const [to, elsewhere] = [await receiver(), await receiver()];
  to.behave({ does: 'answer', status, headers: { location: elsewhere.url('/s3cret') } });
  const outcome = failed(await deliver(requestTo(to.url()), { check: localCheck }));
  expect(outcome.answer).toEqual(statusOnly(status));
  expect(outcome.why).toContain('Redirects are not followed');
  expect(outcome.why).not.toContain('s3cret');
  expect(elsewhere.connections()).toBe(0);
});

test.each([
  ['never answers', { does: 'hang' }],
  ['answers a byte at a time', { does: 'drip', part: 'head' }],
] as const)('a receiver that %s is given up at the limit, and its connection closed', async (_, behaviour) => {
  const to = await receiver();
  to.behave(behaviour);
  const outcome = failed(await deliver(requestTo(to.url()), { check: localCheck, timeoutMs: 150 }));
  expect(outcome).toEqual({
    kind: 'failed',
    why: `http://127.0.0.1:${to.port} accepted a connection, but did not answer within 0.15 s.`,
  });
  await to.allDisconnected();
});

test('once a receiver has said 200, a body that does not end changes nothing, and is not waited for beyond the limit', async () => {
  const to = await receiver();
  to.behave({ does: 'drip', part: 'body' });
  const outcome = await deliver(requestTo(to.url()), { check: localCheck, timeoutMs: 150 });
  expect(outcome).toEqual({ kind: 'delivered', answer: statusOnly(200) });
  await to.allDisconnected();
});

test('no more than a little of a huge answer is read', async () => {
  const to = await receiver();
  to.behave({ does: 'flood' });
  // Far beyond the limit of this test: it is the size that ends the reading.
  const outcome = await deliver(requestTo(to.url()), { check: localCheck, timeoutMs: 600_000 });
  expect(outcome).toEqual({ kind: 'delivered', answer: statusOnly(200) });
  await to.allDisconnected();
});

test.each([
  ['resets the connection', { does: 'reset' }, 'closed the connection without an answer (ECONNRESET)'],
  ['closes the connection', { does: 'say', text: '' }, 'closed the connection without an answer (ECONNRESET)'],
  ['stops in the middle of the head', { does: 'say', text: 'HTTP/1.1 200 OK\r\nx-a' }, 'closed the connection'],
  ['does not speak HTTP', { does: 'say', text: 'SSH-2.0-OpenSSH_9.9\r\n' }, 'something that is not HTTP'],
  ['has an endless head', { does: 'say', text: `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(100_000)}` }, 'too long'],
  [
    'wants another protocol',
    { does: 'say', text: 'HTTP/1.1 101 S\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n' },
    'without an answer.',
  ],
] as const)('a receiver that %s is a failure', async (_, behaviour, why) => {
  const to = await receiver();
  to.behave(behaviour);
  expect(failed(await deliver(requestTo(to.url()), { check: localCheck })).why).toContain(why);
});

test('an answer that breaks off after its status counts by its status', async () => {
  const to = await receiver();
  to.behave({ does: 'say', text: 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf' });
  expect(await deliver(requestTo(to.url()), { check: localCheck })).toEqual({
    kind: 'delivered',
    answer: statusOnly(200),
  });
});

test('interim answers are passed over', async () => {
  const to = await receiver();
  to.behave({ does: 'say', text: 'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n' });
  expect(failed(await deliver(requestTo(to.url()), { check: localCheck })).answer).toEqual(statusOnly(500));
});

test('a port at which nothing listens is a failure', async () => {
  const gone = await startWebhookReceiver();
  await gone.close();
  const { why } = failed(await deliver(requestTo(gone.url()), { check: localCheck }));
  expect(why).toBe(`http://127.0.0.1:${gone.port} did not accept a connection (ECONNREFUSED).`);
});

test('the caller can call an attempt off, before it starts and while it waits', async () => {
  const to = await receiver();
  to.behave({ does: 'hang' });
  const calling = new AbortController();
  const attempt = deliver(requestTo(to.url()), { check: localCheck, signal: calling.signal });
  await to.nextDelivery();
  calling.abort();
  expect(await attempt).toEqual({ kind: 'cancelled' });
  await to.allDisconnected();

  const connections = to.connections();
  expect(await deliver(requestTo(to.url()), { check: localCheck, signal: calling.signal })).toEqual({
    kind: 'cancelled',
  });
  expect(to.connections()).toBe(connections);
});

test('no sentence of a failure holds the secret, a header value, or more of the URL than its origin', async () => {
  const to = await receiver();
  to.behave(
    { does: 'answer', status: 500 },
    { does: 'answer', status: 302, headers: { location: '/s3cret' } },
    { does: 'reset' },
    { does: 'say', text: 's3cret' },
    { does: 'hang' },
  );
  const request = requestTo(to.url('/s3cret?token=s3cret'));
  const sentences: string[] = [];
  for (let attempt = 0; attempt < 5; attempt += 1) {
    sentences.push(failed(await deliver(request, { check: localCheck, timeoutMs: 500 })).why);
  }
  for (const why of sentences) {
    expect(why).not.toContain('s3cret');
    expect(why).not.toContain(secret);
    expect(why).toContain(`http://127.0.0.1:${to.port}`);
  }
});
