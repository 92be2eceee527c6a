import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../src/service/contract/response.ts';
import {
  checkSignature,
  type Forge,
  hasSignature,
  headBytes,
  pushedBranch,
} from '../../../src/service/syncs/push-event.ts';
import { newWebhookSecret, type WebhookSecret } from '../../../src/service/webhooks/signature.ts';
import { deleted, forgeOf, type Pushed, pushDelivery, type Sender, senders } from './push-delivery.ts';

const secret = newWebhookSecret();

/** A delivery as Node presents it: with lower-case names, and characters of headers as bytes. */
function received(sender: Sender, pushed: Pushed = {}, by = secret) {
  const { headers, raw } = pushDelivery(sender, by, pushed);
  const names = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    headers: Object.fromEntries(names) as Record<string, string>,
    body: Buffer.from(raw),
    head: Buffer.from(raw).subarray(0, headBytes),
  };
}

/** Checks a delivery whose body arrives in two pieces. */
function isSigned(
  forge: Forge,
  { headers, body }: Pick<ReturnType<typeof received>, 'headers' | 'body'>,
  by: WebhookSecret,
) {
  const signature = checkSignature(forge, headers, by);
  for (const piece of [body.subarray(0, 10), body.subarray(10)]) signature.update(piece);
  return signature.isSigned();
}

/** The only header that a signature of this sender is in. */
const signatureOf: Readonly<Record<Sender, string>> = {
  github: 'x-hub-signature-256',
  gitlab: 'x-gitlab-token',
  'gitlab-signing-token': 'webhook-signature',
  gitea: 'x-gitea-signature',
  forgejo: 'x-forgejo-signature',
};

describe.each(senders)('a push event of %s', (sender) => {
  const forge = forgeOf(sender);
  const name = signatureOf[sender];
  const signed = received(sender);
  const signature = signed.headers[name] ?? '';
  const { 'x-gitea-signature': _, ...others } = signed.headers;
  const withSignature = (value: string) => ({ ...signed, headers: { ...others, [name]: value } });

  test('is signed with the secret, and with no other', () => {
    expect(isSigned(forge, signed, secret)).toBe(true);
    expect(isSigned(forge, withSignature(signature), secret)).toBe(true);
    expect(isSigned(forge, signed, newWebhookSecret())).toBe(false);
    expect(isSigned(forge, received(sender, {}, newWebhookSecret()), secret)).toBe(false);
  });

  test.each([
    ['empty', ''],
    ['truncated', signature.slice(0, -1)],
    ['longer', `${signature}0`],
    ['in upper case', signature.toUpperCase()],
    ['sent twice', `${signature}, ${signature}`],
    ['of other characters', 'Ã¼\u00ff\u0100'.repeat(9)],
    ['very long', 'a'.repeat(16_000)],
    ['the name of a property', '__proto__'],
    ['of the empty body', createHmac('sha256', secret).update('').digest('hex')],
  ])('is not signed if its signature is %s', (_what, value) => {
    expect(isSigned(forge, withSignature(value), secret)).toBe(false);
  });

  test('is refused without a signature, whatever else it has', () => {
    const { [name]: _signature, ...unsigned } = others;
    expect(hasSignature(forge, signed.headers)).toBe(true);
    expect(hasSignature(forge, unsigned)).toBe(false);
    expect(isSigned(forge, { ...signed, headers: unsigned }, secret)).toBe(false);
  });

  test('is not signed if one byte of the body differs, except with the token of GitLab, which signs nothing', () => {
    const body = Buffer.from(signed.body);
    body[body.length - 2] = 0x20;
    expect(isSigned(forge, { ...signed, body }, secret)).toBe(sender === 'gitlab');
  });

  test('names the pushed branch', () => {
    const ref = 'refs/heads/release/ü-1';
    expect(pushedBranch(forge, received(sender, { ref }))).toBe('release/ü-1');
    const after = 'c'.repeat(64);
    expect(pushedBranch(forge, received(sender, { after }))).toBe('main');
  });

  test('is ignored for a deleted branch, even with SHA-256 ids', () => {
    for (const after of [deleted.after, '0'.repeat(64)]) {
      expect(pushedBranch(forge, received(sender, { after }))).toBeUndefined();
    }
  });

  test('is ignored for tags and other refs', () => {
    for (const ref of ['refs/tags/v1', 'refs/notes/commits', 'refs/heads', 'main', '']) {
      expect(pushedBranch(forge, received(sender, { ref }))).toBeUndefined();
    }
  });

  test.each<[string, Pushed]>([
    ['another event', { event: 'issues' }],
    ['an empty name of the event', { event: '' }],
    ['no new commit', { after: '' }],
    ['a new commit that is not an id', { after: 'main' }],
    ['a branch that git does not allow', { ref: 'refs/heads/a..b' }],
    ['a branch without a name', { ref: 'refs/heads/' }],
    ['a very long branch', { ref: `refs/heads/${'a'.repeat(100_000)}` }],
    ['a branch of half a character', { ref: 'refs/heads/\ud800' }],
    ['a ref that is not text', { more: { ref: 7 } }],
  ])('is not understood with %s', (_what, pushed) => {
    expect(() => pushedBranch(forge, received(sender, pushed))).toThrow(/\w.*\.$/);
  });

  test('cannot be parsed without the name of the event', () => {
    const unnamed = Object.entries(signed.headers).filter(([header]) => !header.endsWith('-event'));
    const headers = Object.fromEntries(unnamed);
    expect(() => pushedBranch(forge, { ...signed, headers })).toThrow(Refusal);
  });

  test.each(['', '{', 'null', '[]', '"refs/heads/main"', '\ufeff{}', '{"ref":"refs/heads/main"}', 'payload=%7B%7D'])(
    'is not understood if the body is %o',
    (body) => {
      expect(() => pushedBranch(forge, { ...signed, head: Buffer.from(body) })).toThrow('"ref" and "after"');
    },
  );
});

test.each(senders)('a large event of %s is parsed from its start, wherever that ends', (sender) => {
  const messages = Array.from({ length: 200 }, (_, index) => ({ message: `"ref":"refs/heads/x" {[\\"${index}` }));
  const { headers, body } = received(sender, { more: { messages } });
  const start = body.indexOf('"commits"');
  expect(start).toBeGreaterThan(0);
  for (let end = start; end < start + 300; end += 1) {
    expect(pushedBranch(forgeOf(sender), { headers, head: body.subarray(0, end) })).toBe('main');
  }
});

test.each<[Sender, string]>([
  ['github', 'ping'],
  ['gitlab', 'Tag Push Hook'],
])('an event of %s that has nothing to sync is ignored: %s', (sender, event) => {
  expect(pushedBranch(forgeOf(sender), received(sender, { event, ref: 'refs/tags/v1' }))).toBeUndefined();
});
