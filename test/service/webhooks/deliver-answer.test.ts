import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deliver } from '../../../src/service/webhooks/deliver.ts';
import type { Judgement, TargetCheck } from '../../../src/service/webhooks/target-address.ts';
import { receiver, requestTo, secret, statusOnly } from './delivering.ts';
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

async function answered(check: TargetCheck, body: string, status = 500) {
  const to = await receiver({ tls });
  to.behave({ does: 'answer', status, headers: { 'content-type': 'text/plain', 'set-cookie': 'a=b' }, body });
  const outcome = await deliver(requestTo(`https://${name}:${to.port}/hook?key=the-key-of-the-url`), { check });
  if (!('answer' in outcome) || outcome.answer === undefined) throw new Error(`It was ${outcome.kind}.`);
  return outcome.answer;
}

test.each([204, 200, 410, 500, 302])('the answer %i of a public receiver is kept', async (status) => {
  const body = status === 204 ? '' : 'no such pipeline';
  expect(await answered(inPublic, body, status)).toEqual({
    kept: 'whole',
    status,
    headers: { 'content-type': 'text/plain' },
    body,
    bodyIsCut: false,
  });
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

test('of an answer without end the beginning is kept, and of one that breaks off what came', async () => {
  const to = await receiver({ tls });
  to.behave(
    { does: 'flood' },
    { does: 'say', text: 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf.' },
    { does: 'drip', part: 'body' },
  );
  const answerWithin = (timeoutMs: number) =>
    deliver(requestTo(`https://${name}:${to.port}/`), { check: inPublic, timeoutMs });
  expect(await answerWithin(60_000)).toMatchObject({ answer: { body: '.'.repeat(1_024), bodyIsCut: true } });
  expect(await answerWithin(60_000)).toMatchObject({ answer: { body: 'half.', bodyIsCut: true } });
  expect(await answerWithin(1_000)).toMatchObject({
    answer: { body: expect.stringMatching(/^\.+$/), bodyIsCut: true },
  });
});
