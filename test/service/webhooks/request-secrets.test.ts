import { expect, test } from 'vitest';
import { redact, spellingsOf } from '../../../src/interface/redact.ts';
import { deliveryRequest } from '../../../src/service/webhooks/delivery-request.ts';
import { parseExtraHeaders } from '../../../src/service/webhooks/extra-headers.ts';
import { newSecret } from '../../../src/service/webhooks/signature.ts';
import { succeeded, valueIn } from './samples.ts';

const secret = newSecret();
const basic = Buffer.from('ada:p4ssword').toString('base64');
const headers = valueIn(
  parseExtraHeaders({ Authorization: 'Bearer t0ken-of-ours', 'X-Auth': `Basic ${basic}`, 'X-Key': 'k3y one two' }),
);
const url = 'https://hooks.example.com/path?key=a%2Fb%20c&alone1&plain=pl4in';
const request = valueIn(deliveryRequest({ url, format: 'standard', secret, headers }, succeeded, new Date()));
const signature = request.headers['webhook-signature'] ?? '';
const spellings = spellingsOf(request.secrets, 4);

test.each([
  ['the secret of the hook', secret],
  ['its bytes alone', secret.slice('whsec_'.length)],
  ['the signature', signature],
  ['the signature without its version', signature.slice('v1,'.length)],
  ['the value of a header', 'Bearer t0ken-of-ours'],
  ['the credential in it', 't0ken-of-ours'],
  ['a value with spaces', 'k3y one two'],
  ['a user name and password', basic],
  ['what these mean', 'ada:p4ssword'],
  ['the password alone', 'p4ssword'],
  ['the query of the address', 'key=a%2Fb%20c&alone1&plain=pl4in'],
  ['a value of it as it is spelled', 'a%2Fb%20c'],
  ['a value of it as it is meant', 'a/b c'],
  ['another value', 'pl4in'],
  ['a name without a value', 'alone1'],
])('%s must not be told by the receiver', (_, text) => {
  expect(redact(`You have sent: ${text}!`, spellings)).toBe('You have sent: ***!');
});

test('what every delivery has may be told', () => {
  const text = `POST /path ${succeeded.id} ${request.body} application/json key plain`;
  expect(redact(text, spellings)).toBe(text);
});
