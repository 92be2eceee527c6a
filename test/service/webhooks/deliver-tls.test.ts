import { type AddressInfo, createServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { deliver } from '../../../src/service/webhooks/deliver.ts';
import { always, checking, failed, localCheck, receiver, requestTo, statusOnly } from './delivering.ts';
import { selfSigned } from './self-signed.ts';

const name = 'hooks.example.com';
const toName = checking(always('127.0.0.1'));

const trustedBefore = getCACertificates('default');
afterEach(() => setDefaultCACertificates(trustedBefore));

test('https is delivered to a receiver whose certificate is for the name and trusted', async () => {
  const tls = selfSigned(name);
  setDefaultCACertificates([tls.cert]);
  const to = await receiver({ tls });
  const request = requestTo(`https://${name}:${to.port}/`);
  expect(await deliver(request, { check: toName })).toEqual({ kind: 'delivered', answer: statusOnly(204) });
  expect((await to.nextDelivery()).body).toBe(request.body);

  const { why } = failed(await deliver(requestTo(`https://other.example.com:${to.port}/`), { check: toName }));
  expect(why).toBe(
    `The TLS certificate of https://other.example.com:${to.port} is for another name (ERR_TLS_CERT_ALTNAME_INVALID).`,
  );
  expect(to.deliveries).toHaveLength(1);
});

test('a receiver that stalls after the handshake is said not to answer', async () => {
  const tls = selfSigned(name);
  setDefaultCACertificates([tls.cert]);
  const to = await receiver({ tls });
  to.behave({ does: 'hang' });
  const { why } = failed(await deliver(requestTo(`https://${name}:${to.port}/`), { check: toName, timeoutMs: 300 }));
  expect(why).toContain('did not answer within 0.3 s');
});

test('a certificate that is not trusted is said to be the reason, and nothing is sent', async () => {
  const to = await receiver({ tls: selfSigned(name) });
  const { why } = failed(await deliver(requestTo(`https://${name}:${to.port}/`), { check: toName }));
  expect(why).toContain('The TLS certificate of');
  expect(why).toContain('is self-signed');
  expect(to.deliveries).toHaveLength(0);
});

test('a certificate that has expired is said to be the reason', async () => {
  const tls = selfSigned(name, new Date(Date.now() - 60_000));
  setDefaultCACertificates([tls.cert]);
  const to = await receiver({ tls });
  const { why } = failed(await deliver(requestTo(`https://${name}:${to.port}/`), { check: toName }));
  expect(why).toContain('has expired');
});

test('a receiver that does not speak TLS is said to be the reason', async () => {
  const to = await receiver();
  const { why } = failed(await deliver(requestTo(`https://127.0.0.1:${to.port}/`), { check: localCheck }));
  expect(why).toContain('The TLS handshake with');
});

test('a receiver that stalls in the TLS handshake is given up at the limit', async () => {
  const silent = createServer((socket) => socket.on('error', () => {}).resume());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an address of this form (node:net, server.address()).
  const { port } = silent.address() as AddressInfo;
  const terms = { check: localCheck, timeoutMs: 100 };
  const { why } = failed(await deliver(requestTo(`https://127.0.0.1:${port}/`), terms));
  expect(why).toContain('did not complete the TLS handshake within 0.1 s');
  await new Promise((resolve) => silent.close(resolve));
});
