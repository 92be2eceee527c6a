import http from 'node:http';
import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { always, checking, deliverTo, failed, nowhere, receiver, statusOnly } from './delivering.ts';

test('a name that does not resolve is a failure, and one that takes too long as well', async () => {
  const url = 'https://hooks.example.com/s3cret';
  expect(failed(await deliverTo(url)).why).toBe('The name of https://hooks.example.com does not resolve (ENOTFOUND).');
  const silent = checking(() => new Promise(() => {}));
  expect(failed(await deliverTo(url, { check: silent, timeoutMs: 20 })).why).toBe(
    'The name of https://hooks.example.com was not resolved within 0.02 s.',
  );
});

test('a name is reached at any of its addresses', async () => {
  const to = await receiver();
  // Nothing listens on the other loopback addresses at this port.
  const check = checking(always('127.0.0.9', '127.0.0.1'));
  const outcome = await deliverTo(`http://ci.internal:${to.port}/`, { check });
  expect(outcome.kind).toBe('delivered');
  expect((await to.nextDelivery()).headers.host).toBe(`ci.internal:${to.port}`);
});

test('an IPv6 address is reached', async ({ skip }) => {
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  skip(!addresses.some(({ address }) => address === '::1'), 'This machine has no ::1.');
  const to = await receiver({ host: '::1' });
  expect(await deliverTo(to.url())).toEqual({ kind: 'delivered', answer: statusOnly(204) });
  expect((await to.nextDelivery()).headers.host).toBe(`[::1]:${to.port}`);
});

test('a name is asked for once an attempt, so that no second answer slips past the check', async () => {
  const to = await receiver();
  const answers = [['127.0.0.1']];
  const check = checking(async () => answers.shift() ?? Promise.reject(new Error('It was asked for again.')));
  expect((await deliverTo(`http://twice.example.com:${to.port}/`, { check })).kind).toBe('delivered');
});

test('what is not a target, or leads where nothing may go, is refused, and not connected to', async () => {
  const to = await receiver();
  const hosts = ['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '[::1]'];
  const urls = hosts.flatMap((host) => [`http://${host}:${to.port}/s3cret`, `https://${host}:${to.port}/s3cret`]);
  for (const url of ['https://a:s3cret@b/', ...urls]) {
    const outcome = await deliverTo(url, { check: checking(nowhere, []) });
    expect(outcome).toMatchObject({ kind: 'refused-target' });
    expect(JSON.stringify(outcome)).not.toContain('s3cret');
  }
  expect(to.connections()).toBe(0);
  const plain = await deliverTo('http://hooks.example.com/', { check: checking(always('1.1.1.1')) });
  expect(plain).toHaveProperty('why', expect.stringContaining('use https'));
});

test('a proxy of the environment is not used: it would reach addresses that were not checked', async () => {
  const [to, proxy] = [await receiver(), await receiver()];
  const restore = http.setGlobalProxyFromEnv({ http_proxy: proxy.url('') });
  try {
    expect((await deliverTo(to.url())).kind).toBe('delivered');
  } finally {
    restore();
  }
  expect(proxy.connections()).toBe(0);
  expect(to.deliveries).toHaveLength(1);
});
