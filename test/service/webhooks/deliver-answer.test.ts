import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Judgement, TargetCheck } from '../../../src/service/webhooks/target-address.ts';
import type { Behaviour } from '../../support/webhook-receiver.ts';
import { deliverTo, receiver, secret, statusOnly } from './delivering.ts';
import { selfSigned } from './self-signed.ts';

const name = 'hooks.example.com';
const tls = selfSigned(name);
const trustedBefore = getCACertificates('default');
beforeAll(() => setDefaultCACertificates([tls.cert]));
afterAll(() => setDefaultCACertificates(trustedBefore));

/** Loopback addresses that count as something else: a test can reach no others. */
const judging = (judgements: Readonly<Record<string, Judgement['kind']>>): TargetCheck => ({
  addressesOf: async () => {
    const [first = '', ...others] = Object.keys(judgements);
    return [first, ...others];
  },
  judge: (address) => {
    const kind = judgements[address] ?? 'refused';
    return kind === 'refused' ? { kind, what: 'something else' } : { kind };
  },
});

const inPublic = judging({ '127.0.0.1': 'public' });

/** A receiver that behaves so, and how it is reached by its name. */
async function receiving(behaviour: Behaviour) {
  const to = await receiver({ tls });
  to.behave(behaviour);
  return { to, url: `https://${name}:${to.port}/hook?key=the-key-of-the-url` };
}

async function answered(check: TargetCheck, body: string, status = 500) {
  const headers = { 'content-type': 'text/plain', 'set-cookie': 'a=b' };
  const { url } = await receiving({ does: 'answer', status, headers, body });
  const outcome = await deliverTo(url, { check });
  if (!('answer' in outcome) || outcome.answer === undefined) throw new Error(`It was ${outcome.kind}.`);
  return outcome.answer;
}

test.each([204, 200, 410, 500, 302])('the answer %i of a public receiver is kept', async (status) => {
  const body = status === 204 ? '' : 'no such pipeline';
  const headers = { 'content-type': 'text/plain' };
  expect(await answered(inPublic, body, status)).toEqual({ kept: 'whole', status, headers, body, bodyIsCut: false });
});

test('of an answer from an allowed network the status is kept alone, and of one that could come from there as well', async () => {
  for (const check of [
    judging({ '127.0.0.1': 'allowed' }),
    judging({ '127.0.0.1': 'public', '127.0.0.9': 'allowed' }),
    judging({ '127.0.0.9': 'allowed', '127.0.0.1': 'public' }),
  ]) {
    expect(await answered(check, 'the credentials of a machine')).toEqual(statusOnly(500));
  }
});

test('a receiver that repeats what it was sent does not tell it to anybody', async () => {
  const answer = await answered(inPublic, `Bearer s3cret: wrong. ?key=the-key-of-the-url ${secret}`);
  expect(answer).toMatchObject({ body: '***: wrong. ?*** ***' });
});

test.each<[string, Behaviour, RegExp, number]>([
  // The time limit is far beyond that of this test: it is the size that ends the reading.
  ['without end', { does: 'flood' }, /^\.{1024}$/, 600_000],
  [
    'that breaks off',
    { does: 'say', text: 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf.' },
    /^half\.$/,
    600_000,
  ],
  ['that takes too long', { does: 'drip', part: 'body' }, /^\.+$/, 1_000],
])(
  'once a receiver has said 200, a body %s changes nothing, and what came of it is kept',
  async (_, behaviour, kept, timeoutMs) => {
    const { to, url } = await receiving(behaviour);
    const body = expect.stringMatching(kept);
    const answer = expect.objectContaining({ status: 200, body, bodyIsCut: true });
    expect(await deliverTo(url, { check: inPublic, timeoutMs })).toEqual({ kind: 'delivered', answer });
    await to.allDisconnected();
  },
);
