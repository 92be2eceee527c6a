import { beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { type OidcIssuer, startOidcIssuer } from '../../support/oidc-issuer.ts';
import { audience, exchangeOn, newAddress, type TrustingService, trustingService } from './trusting-service.ts';

const seconds = (fromNow: number): number => Math.floor(Date.now() / 1_000) + fromNow;
const day = 24 * 60 * 60;

describe('the token exchange', () => {
  const service = trustingService();
  let rule: Awaited<ReturnType<TrustingService['trust']>>;
  let stranger: OidcIssuer;
  beforeAll(async () => {
    rule = await service.trust();
    stranger = await startOidcIssuer();
    return stranger.close;
  });

  const kidOf = (jwt: string): string => JSON.parse(Buffer.from(jwt.split('.')[0] ?? '', 'base64url').toString()).kid;

  /** Changes one of the three parts of a valid JWT. */
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
    ['that has expired', () => rule.sign({ exp: seconds(-40) }), /exp.* check failed/],
    ['without an expiry time', () => rule.sign({ exp: undefined }), /missing required .*exp/],
    ['issued in the future', () => rule.sign({ iat: seconds(60) }), /iat.*should be in the past/],
    ['issued two days ago', () => rule.sign({ iat: seconds(-2 * day) }), /iat.*too far in the past/],
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
    ['that is not signed', () => rule.sign({}, { alg: 'none' }), /alg.* not allowed/],
    ['signed with the public key as a secret', () => rule.sign({}, { alg: 'HS256' }), /alg.* not allowed/],
    ['of 100 KB', () => rule.sign({ padding: 'a'.repeat(75_000) }), /more than 16384 characters/],
    ['with changed claims', () => changed(1, inJson({ repository_id: '1' })), /signature verification failed/],
    ['that is not a JWT', () => 'eyJhbGciOiJSUzI1NiJ9', /It is not a JWT/],
    ['that names no issuer', () => rule.sign({ iss: undefined }), /No trust rule names the issuer missing/],
    [
      'of another issuer',
      () => stranger.sign(audience, { repository_id: rule.claims['repository_id'] }),
      /No trust rule names the issuer "http:\/\/127\.0\.0\.1:\d+"/,
    ],
    [
      'that another issuer signed, with the key id of this issuer',
      () => stranger.sign(audience, { iss: rule.issuer }, { kid: kidOf(rule.sign()) }),
      /signature verification failed/,
    ],
  ];

  test.each(wrong)('refuses an identity token %s, and logs the reason', async (_what, make, told) => {
    const jwt = make();
    const response = await service.exchange(jwt);
    expect([response.status, response.body]).toEqual([
      400,
      {
        error: 'invalid_request',
        error_description:
          'The subject_token was rejected: it is invalid, or no trust rule matches it. The log of the service says why. Its operator adds a rule with: workspace-service trust add',
      },
    ]);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(service.told(response)).toMatch(told);
    for (const part of jwt.split('.').filter(({ length }) => length > 20)) expect(service.log()).not.toContain(part);
    expect(stranger.requests).toEqual([]);
  });

  test.each([
    ['names an unknown key', () => rule.sign({}, { kid: 'nobodys' })],
    ['another issuer signed with its own key', () => stranger.sign(audience, { ...rule.claims, iss: rule.issuer })],
  ])('answers an identity token that %s like one of an issuer that no rule trusts', async (_what, make) => {
    // The keys of the issuer have just been fetched.
    expect((await service.exchange(rule.sign())).status).toBe(200);
    const asked = service.issuer.requests.length;
    const [response, ofStranger] = [await service.exchange(make()), await service.exchange(stranger.sign(audience))];
    expect([response.status, response.text]).toEqual([400, ofStranger.text]);
    expect(service.told(response)).toMatch(/no applicable key/);
    expect([service.issuer.requests.length, stranger.requests]).toEqual([asked, []]);
  });

  test('refuses an identity token that was already exchanged, and other tokens with its jti', async () => {
    const [first, other] = [rule.sign({ jti: 'once' }), rule.sign({ jti: 'once', run_id: '4712' }, { alg: 'ES256' })];
    expect((await service.exchange(first)).status).toBe(200);
    for (const jwt of [first, other]) {
      const again = await service.exchange(jwt);
      expect([again.status, again.body.error]).toEqual([400, 'invalid_request']);
      expect(service.told(again)).toContain('was exchanged before');
    }
  });

  test('accepts identity tokens within the clock tolerance, and those without jti once', async () => {
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

  test('exchange a JWT only once, even for concurrent requests', async () => {
    const { sign } = await service.trust();
    const request = { jwt: sign(), scopes: [], address: newAddress(), requestId: 'req_1' };
    const instances = [1, 2, 3].map(() => exchangeOn(service, () => performance.now()));
    const answers = await Promise.all([...instances, ...instances].map((exchange) => exchange(request)));
    expect(answers.filter(({ kind }) => kind === 'exchanged')).toHaveLength(1);
    expect(answers.filter(({ kind }) => kind === 'refused')).toHaveLength(5);
  });
});
