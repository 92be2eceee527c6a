import { createServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { listenHere } from '../../support/listen.ts';
import type { Answer } from '../../support/other-servers/other-server.ts';
import { drip, flood, nothing, say } from '../../support/other-servers/responses.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { always, checking, deliverTo, failed, receiver } from './delivering.ts';

const name = 'hooks.example.com';
const tls = selfSigned(name);
beforeAll(() => {
  const trustedBefore = getCACertificates('default');
  setDefaultCACertificates([tls.cert]);
  return () => setDefaultCACertificates(trustedBefore);
});

const toName = checking(always('127.0.0.1'));

/** Starts a receiver with this behavior, and returns its URL by name. */
async function receiving(behaviour: Answer = nothing(204), certificate = tls) {
  const to = await receiver({ tls: certificate });
  to.behave(behaviour);
  return { to, url: `https://${name}:${to.port}/hook?key=the-key-of-the-url` };
}

test.each<[string, Answer, number]>([
  // The timeout is far longer than that of this test: the size limit ends the reading.
  ['that never ends', flood, 600_000],
  ['that is cut off', say('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf.'), 600_000],
  ['that takes too long', drip('body'), 4_000],
])('after the status 200, a body %s does not fail the delivery', async (_, behaviour, timeoutMs) => {
  const { to, url } = await receiving(behaviour);
  expect(await deliverTo(url, { check: toName, timeoutMs })).toEqual({ kind: 'delivered' });
  await expect.poll(() => to.sockets.size).toBe(0);
});

test('a delivery reaches only a receiver with a trusted certificate for its name', async () => {
  const { to, url } = await receiving();
  expect(await deliverTo(url, { check: toName })).toEqual({ kind: 'delivered' });
  const other = `https://other.example.com:${to.port}`;
  expect(failed(await deliverTo(other, { check: toName })).reason).toBe(
    `The delivery to ${other} failed: the connection failed (ERR_TLS_CERT_ALTNAME_INVALID).`,
  );
  expect(to.deliveries).toHaveLength(1);
});

test('a receiver that stalls in the TLS handshake fails after the timeout', async () => {
  const { port, close } = await listenHere(createServer((socket) => socket.resume()));
  onTestFinished(close);
  const { reason } = failed(await deliverTo(`https://127.0.0.1:${port}/`, { timeoutMs: 2_000 }));
  expect(reason).toContain('did not respond within 2 s');
});
