import { createServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { listenHere } from '../../support/listen.ts';
import { always, checking, deliverTo, failed, receiver, statusOnly } from './delivering.ts';
import { selfSigned } from './self-signed.ts';

const name = 'hooks.example.com';
const toName = checking(always('127.0.0.1'));

const trustedBefore = getCACertificates('default');
afterEach(() => setDefaultCACertificates(trustedBefore));

interface Certificate {
  readonly validUntil?: Date | undefined;
  readonly isTrusted?: boolean | undefined;
}

/** A receiver under that name, whose certificate is trusted unless told otherwise. */
async function trusted({ validUntil, isTrusted = true }: Certificate = {}) {
  const tls = selfSigned(name, validUntil);
  if (isTrusted) setDefaultCACertificates([tls.cert]);
  const to = await receiver({ tls });
  const attempt = (host = name, timeoutMs = 15_000) =>
    deliverTo(`https://${host}:${to.port}/`, { check: toName, timeoutMs });
  return { to, attempt };
}

test('https is delivered to a receiver whose certificate is for the name and trusted', async () => {
  const { to, attempt } = await trusted();
  expect(await attempt()).toEqual({ kind: 'delivered', answer: statusOnly(204) });
  const { why } = failed(await attempt('other.example.com'));
  expect(why).toBe(
    `The TLS certificate of https://other.example.com:${to.port} is for another name (ERR_TLS_CERT_ALTNAME_INVALID).`,
  );
  expect(to.deliveries).toHaveLength(1);
});

test('a receiver that stalls after the handshake is said not to answer', async () => {
  const { to, attempt } = await trusted();
  to.behave({ does: 'hang' });
  expect(failed(await attempt(name, 300)).why).toContain('did not answer within 0.3 s');
});

test.each([
  ['is self-signed', { isTrusted: false }],
  ['has expired', { validUntil: new Date(Date.now() - 60_000) }],
])('a certificate that %s is said to be the reason, and nothing is sent', async (fault, certificate) => {
  const { to, attempt } = await trusted(certificate);
  expect(failed(await attempt()).why).toContain(`The TLS certificate of https://${name}:${to.port} ${fault}`);
  expect(to.deliveries).toHaveLength(0);
});

test('a receiver that does not speak TLS is said to be the reason', async () => {
  const to = await receiver();
  expect(failed(await deliverTo(`https://127.0.0.1:${to.port}/`)).why).toContain('The TLS handshake with');
});

test('a receiver that stalls in the TLS handshake is given up at the limit', async () => {
  const silent = createServer((socket) => socket.on('error', () => {}).resume());
  const port = await listenHere(silent);
  const { why } = failed(await deliverTo(`https://127.0.0.1:${port}/`, { timeoutMs: 100 }));
  expect(why).toContain('did not complete the TLS handshake within 0.1 s');
  await new Promise((resolve) => silent.close(resolve));
});
