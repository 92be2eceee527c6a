import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTargetCheck } from '../../../src/service/outbound/target-address.ts';
import { cidr } from '../../../src/service/platform/ip-address.ts';
import { createMetrics } from '../../../src/service/runtime/metrics.ts';
import { createExchangeToken } from '../../../src/service/trust/exchange.ts';
import { databaseKinds } from '../../support/databases.ts';
import { type OidcIssuer, startOidcIssuer } from '../../support/oidc-issuer.ts';
import { audience, newAddress, type TrustingService, trustingService } from './trusting-service.ts';

const seconds = (fromNow: number): number => Math.floor(Date.now() / 1_000) + fromNow;
const day = 24 * 60 * 60;

describe('an identity that is wrong is refused with one answer, and the log of the operator has why', () => {
  const service = trustingService();
  let rule: Awaited<ReturnType<TrustingService['trust']>>;
  let stranger: OidcIssuer;
  beforeAll(async () => {
    rule = await service.trust();
    stranger = await startOidcIssuer();
  });
  afterAll(() => stranger.stop());

  const kidOf = (jwt: string): string => JSON.parse(Buffer.from(jwt.split('.')[0] ?? '', 'base64url').toString()).kid;

  /** Of a JWT that is good, with one of its three parts changed. */
  function changed(part: 0 | 1 | 2, change: (text: string) => string): string {
    const parts = rule.sign().split('.');
    parts[part] = change(parts[part] ?? '');
    return parts.join('.');
  }
  const inJson = (change: object) => (text: string) =>
    Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(text, 'base64url').toString()), ...change })).toString(
      'base64url',
    );

  const wrong: readonly (readonly [what: string, jwt: () => string, told: RegExp])[] = [
    ['that has expired', () => rule.sign({ exp: seconds(-40) }), /The JWT has expired\./],
    ['without an end', () => rule.sign({ exp: undefined }), /The JWT has no claim exp\./],
    ['with an end that is a text', () => rule.sign({ exp: String(seconds(100)) }), /The claim exp of the JWT/],
    ['without the time when it was made out', () => rule.sign({ iat: undefined }), /The JWT has no claim iat\./],
    ['made out in the future', () => rule.sign({ iat: seconds(60) }), /from the future \(iat\)/],
    ['that is not valid yet', () => rule.sign({ nbf: seconds(60) }), /from the future \(nbf\)/],
    ['made out two days ago', () => rule.sign({ iat: seconds(-2 * day) }), /more than a day ago/],
    ['that is valid for days', () => rule.sign({ exp: seconds(2 * day) }), /valid for more than a day/],
    [
      'for another audience',
      () => rule.sign({ aud: 'https://github.com/octo' }),
      /The audience of the JWT is "https:\/\/github.com\/octo"/,
    ],
    [
      'for this and another audience',
      () => rule.sign({ aud: [audience, 'sts.example.com'] }),
      /The audience of the JWT is \["https/,
    ],
    ['for no audience', () => rule.sign({ aud: undefined }), /The JWT has no claim aud\./],
    ['for an address below the audience', () => rule.sign({ aud: `${audience}/v1` }), /The audience of the JWT is/],
    ['that is not signed', () => rule.sign({}, { alg: 'none' }), /signed with "none"; only RS256 and ES256/],
    ['signed with the public key as a secret', () => rule.sign({}, { alg: 'HS256' }), /signed with "HS256"/],
    [
      'that names a key of another kind',
      () => rule.sign({}, { alg: 'ES256', kid: kidOf(rule.sign()) }),
      /has no key ".*" for ES256/,
    ],
    ['that names no key', () => rule.sign({}, { kid: null }), /does not name its key/],
    [
      'with an extension that is not known',
      () => rule.sign({}, { crit: ['b64'], b64: false }),
      /cannot be verified \(ERR_/,
    ],
    ['of 100 KB', () => rule.sign({ padding: 'a'.repeat(75_000) }), /more than 16384 characters/],
    ['whose claims were changed', () => changed(1, inJson({ repository_id: '1' })), /signature of the JWT is not that/],
    ['whose signature is missing', () => changed(2, () => ''), /cannot be verified|signature of the JWT/],
    ['that is no JWT', () => 'eyJhbGciOiJSUzI1NiJ9', /It is not a JWT/],
    ['that is encrypted', () => 'a.b.c.d.e', /It is not a JWT/],
    ['that names no issuer', () => rule.sign({ iss: undefined }), /No trust rule names the issuer missing/],
    ['with a list of issuers', () => rule.sign({ iss: [rule.issuer] }), /No trust rule names the issuer \[/],
    [
      'of an issuer with a slash at its end',
      () => rule.sign({ iss: `${rule.issuer}/` }),
      /No trust rule names the issuer/,
    ],
    [
      'of another issuer',
      () => stranger.sign(audience, { repository_id: rule.claims['repository_id'] }),
      /No trust rule names the issuer "http:\/\/127\.0\.0\.1:\d+"/,
    ],
    [
      'that another issuer has signed in the name of the key',
      () => stranger.sign(audience, { iss: rule.issuer }, { kid: kidOf(rule.sign()) }),
      /signature of the JWT is not that/,
    ],
    ['of another repository', () => rule.sign({ repository_id: '1' }), /No trust rule matches the job.*repository_id/],
  ];

  test.each(wrong)('%s', async (_what, make, told) => {
    const jwt = make();
    const response = await service.exchange(jwt);
    expect([response.status, response.body]).toEqual([
      400,
      {
        error: 'invalid_request',
        error_description:
          'The subject_token was rejected: it is invalid, or no trust rule matches it. The log of the service says why.',
      },
    ]);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(service.told(response)).toMatch(told);
    for (const part of jwt.split('.').filter(({ length }) => length > 20)) expect(service.log()).not.toContain(part);
    expect(stranger.requests).toEqual([]);
  });

  test.each([
    ['names a key that nobody has', () => rule.sign({}, { kid: 'nobodys' })],
    ['another issuer has signed with its key', () => stranger.sign(audience, { ...rule.claims, iss: rule.issuer })],
  ])('an identity that %s is to be shown again later, as the issuer may use a new key', async (_what, make) => {
    // Now the issuer has just been asked.
    expect((await service.exchange(rule.sign())).status).toBe(200);
    const asked = service.issuer.requests.length;
    const response = await service.exchange(make());
    expect([response.status, response.body.error]).toEqual([503, 'temporarily_unavailable']);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(service.told(response)).toMatch(
      /has no key ".*" for RS256 that is known yet: it was asked less than a minute ago/,
    );
    expect([service.issuer.requests.length, stranger.requests]).toEqual([asked, []]);
  });

  test('one that is exchanged a second time, also by another job with the same jti', async () => {
    const [first, other] = [rule.sign({ jti: 'once' }), rule.sign({ jti: 'once', run_id: '4712' }, { alg: 'ES256' })];
    expect((await service.exchange(first)).status).toBe(200);
    for (const jwt of [first, other]) {
      const again = await service.exchange(jwt);
      expect([again.status, again.body.error]).toEqual([400, 'invalid_request']);
      expect(service.told(again)).toContain('was exchanged before');
    }
  });

  test('but not one that is a little early or late, as clocks are, nor one without jti the first time', async () => {
    const good = [
      rule.sign({ iat: seconds(20), nbf: seconds(20) }),
      rule.sign({ exp: seconds(-20) }),
      rule.sign({ aud: [audience] }),
      rule.sign({ jti: undefined }, { alg: 'ES256' }),
    ];
    for (const jwt of good) expect((await service.exchange(jwt)).status).toBe(200);
    expect((await service.exchange(good[3] ?? '')).status).toBe(400);
  });
});

describe.each(databaseKinds)('instances that share a database on $name', (kind) => {
  const service = trustingService(kind);

  const newInstance = () =>
    createExchangeToken({
      storage: service.storage,
      targets: createTargetCheck({ allowedNetworks: [cidr('127.0.0.0/8')] }),
      metrics: createMetrics(),
      log: pino({ level: 'silent' }),
      publicUrl: () => audience,
      clock: () => performance.now(),
    });

  test('exchange a JWT once, however many ask for it at the same time', async () => {
    const { sign } = await service.trust();
    const request = { jwt: sign(), scopes: [], address: newAddress(), requestId: 'req_1' };
    const instances = [newInstance(), newInstance(), newInstance()];
    const answers = await Promise.all([...instances, ...instances].map((exchange) => exchange(request)));
    expect(answers.filter(({ kind }) => kind === 'exchanged')).toHaveLength(1);
    expect(answers.filter(({ kind }) => kind === 'refused')).toHaveLength(5);
  });
});
