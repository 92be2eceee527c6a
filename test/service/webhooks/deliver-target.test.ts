import http from 'node:http';
import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { deliver } from '../../../src/service/webhooks/deliver.ts';
import { checkTarget } from '../../../src/service/webhooks/target.ts';
import { always, checking, failed, localCheck, nowhere, receiver, requestTo, statusOnly } from './delivering.ts';
import { whyOf } from './samples.ts';

test('a name that does not resolve is a failure, and one that takes too long as well', async () => {
  const request = requestTo('https://hooks.example.com/s3cret');
  expect(failed(await deliver(request, { check: localCheck })).why).toBe(
    'The name of https://hooks.example.com does not resolve (ENOTFOUND).',
  );
  const silent = checking(() => new Promise(() => {}));
  expect(failed(await deliver(request, { check: silent, timeoutMs: 20 })).why).toBe(
    'The name of https://hooks.example.com was not resolved within 0.02 s.',
  );
});

test('a name is reached at any of its addresses', async () => {
  const to = await receiver();
  // Nothing listens on the other loopback addresses at this port.
  const check = checking(always('127.0.0.9', '127.0.0.1'));
  const outcome = await deliver(requestTo(`http://ci.internal:${to.port}/`), { check });
  expect(outcome.kind).toBe('delivered');
  expect((await to.nextDelivery()).headers.host).toBe(`ci.internal:${to.port}`);
});

test('an IPv6 address is reached', async ({ skip }) => {
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  skip(!addresses.some(({ address }) => address === '::1'), 'This machine has no ::1.');
  const to = await receiver({ host: '::1' });
  expect(await deliver(requestTo(to.url()), { check: localCheck })).toEqual({
    kind: 'delivered',
    answer: statusOnly(204),
  });
  expect((await to.nextDelivery()).headers.host).toBe(`[::1]:${to.port}`);
});

test('a name that led to a public address when it was registered is refused once it leads inside', async () => {
  const to = await receiver();
  const answers = [['1.1.1.1'], ['127.0.0.1']];
  const check = checking(async () => answers.shift() ?? [], []);
  const url = `https://rebound.example.com:${to.port}/`;
  expect((await checkTarget(url, check)).ok).toBe(true);
  const outcome = await deliver(requestTo(url), { check });
  expect(outcome).toMatchObject({ kind: 'refused-target' });
  expect(outcome).toHaveProperty('why', expect.stringContaining('leads to a loopback address'));
  expect(to.connections()).toBe(0);
});

test('a name is asked for once an attempt, so that no second answer slips past the check', async () => {
  const to = await receiver();
  const answers = [['127.0.0.1']];
  const check = checking(async () => answers.shift() ?? Promise.reject(new Error('It was asked for again.')));
  expect((await deliver(requestTo(`http://twice.example.com:${to.port}/`), { check })).kind).toBe('delivered');
});

test.each(['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '[::1]'])(
  'the host %s is refused at delivery where loopback is not allowed, and not connected to',
  async (host) => {
    const to = await receiver();
    for (const scheme of ['http', 'https']) {
      const outcome = await deliver(requestTo(`${scheme}://${host}:${to.port}/s3cret`), {
        check: checking(nowhere, []),
      });
      expect(outcome).toMatchObject({ kind: 'refused-target' });
      expect(JSON.stringify(outcome)).not.toContain('s3cret');
    }
    expect(to.connections()).toBe(0);
  },
);

test('plain http is refused at delivery too, unless it leads into an allowed network', async () => {
  const outcome = await deliver(requestTo('http://hooks.example.com/'), { check: checking(always('1.1.1.1')) });
  expect(outcome).toHaveProperty('why', expect.stringContaining('use https'));
});

test('what is not a target is refused', async () => {
  const outcome = await deliver(
    { ...requestTo('https://hooks.example.com'), url: 'https://a:s3cret@b/' },
    { check: localCheck },
  );
  expect(outcome).toMatchObject({ kind: 'refused-target' });
  expect(JSON.stringify(outcome)).not.toContain('s3cret');
});

test('a proxy of the environment is not used: it would reach addresses that were not checked', async () => {
  const [to, proxy] = [await receiver(), await receiver()];
  const restore = http.setGlobalProxyFromEnv({ http_proxy: proxy.url('') });
  try {
    expect((await deliver(requestTo(to.url()), { check: localCheck })).kind).toBe('delivered');
  } finally {
    restore();
  }
  expect(proxy.connections()).toBe(0);
  expect(to.deliveries).toHaveLength(1);
});

test('a registration is refused with the same sentence as a delivery', async () => {
  const check = checking(always('10.0.0.1'), []);
  const url = 'https://hooks.example.com/';
  const outcome = await deliver(requestTo(url), { check });
  expect(outcome).toEqual({ kind: 'refused-target', why: whyOf(await checkTarget(url, check)) });
});
