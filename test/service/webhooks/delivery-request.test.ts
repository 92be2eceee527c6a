import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { hookFormats } from '../../../src/interface/resources.ts';
import { deliveryRequest } from '../../../src/service/webhooks/delivery-request.ts';
import { parseExtraHeaders } from '../../../src/service/webhooks/extra-headers.ts';
import { newSecret } from '../../../src/service/webhooks/signature.ts';
import { released, succeeded, valueIn } from './samples.ts';

const url = 'https://hooks.example.com/';
const headers = valueIn(parseExtraHeaders({ Authorization: 'Bearer abc', 'User-Agent': 'game-hooks' }));

test('every format is signed over the body that is sent', () => {
  const secret = newSecret();
  for (const format of hookFormats) {
    const request = valueIn(deliveryRequest({ url, format, secret, headers }, succeeded, new Date()));
    expect(new Webhook(secret).verify(request.body, { ...request.headers })).toEqual(JSON.parse(request.body));
    expect(request.headers['webhook-id']).toBe(succeeded.id);
  }
});

test("a hook's own headers are added, and replace those of its format", () => {
  const hook = { url, format: 'github', secret: newSecret(), headers } as const;
  const request = valueIn(deliveryRequest(hook, released, new Date()));
  expect(request.headers).toMatchObject({
    authorization: 'Bearer abc',
    accept: 'application/vnd.github+json',
    'content-type': 'application/json',
    'user-agent': 'game-hooks',
  });
});

test('there is no request for an event that the format has no words for', () => {
  const hook = { url, format: 'buildkite', secret: newSecret(), headers } as const;
  expect(deliveryRequest(hook, released, new Date()).ok).toBe(false);
});
