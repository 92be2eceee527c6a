import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { newSecret, parseSecret, signedHeaders } from '../../../src/service/webhooks/signature.ts';
import { valueIn } from './samples.ts';

const anySecret = fc
  .uint8Array({ minLength: 24, maxLength: 64 })
  .map((bytes) => valueIn(parseSecret(`whsec_${Buffer.from(bytes).toString('base64')}`)));

const verify = (secret: string, body: string | Buffer, headers: Record<string, string>): unknown =>
  new Webhook(secret).verify(body, headers, { jsonParse: false });

test('a receiver with the standardwebhooks package verifies every body, id and secret', () => {
  fc.assert(
    fc.property(
      anySecret,
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/),
      (secret, body, id) => {
        const headers = signedHeaders({ id, timestamp: new Date(), body, secret });
        expect(() => verify(secret, Buffer.from(body), { ...headers })).not.toThrow();
      },
    ),
  );
});

test('a receiver refuses what was changed on the way, and what another secret signed', () => {
  const [secret, other] = [newSecret(), newSecret()];
  const headers = signedHeaders({ id: 'evt_1', timestamp: new Date(), body: '{"a":1}', secret });
  expect(() => verify(secret, '{"a":2}', { ...headers })).toThrow('No matching signature');
  expect(() => verify(secret, '{"a":1}', { ...headers, 'webhook-id': 'evt_2' })).toThrow('No matching signature');
  expect(() => verify(other, '{"a":1}', { ...headers })).toThrow('No matching signature');
});

test('the headers are those that the libraries of Standard Webhooks test themselves with', () => {
  const secret = valueIn(parseSecret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'));
  const timestamp = new Date(1_614_265_330_999);
  expect(
    signedHeaders({ id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp, body: '{"test": 2432232314}', secret }),
  ).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});
