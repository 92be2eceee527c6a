import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createTargetCheck } from '../../../src/service/outbound/target.ts';
import { cidr } from '../../../src/service/platform/ip-address.ts';
import { createIssuerKeys, IssuerError } from '../../../src/service/trust/verify-identity.ts';
import { type OidcIssuer, startOidcIssuer } from '../../support/oidc-issuer.ts';
import { json, silence } from '../../support/other-servers/responses.ts';

const headerOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[0] ?? '', 'base64url').toString());

describe('the keys of an issuer', () => {
  let issuer: OidcIssuer;
  let keysOf: ReturnType<typeof createIssuerKeys>;

  beforeEach(async () => {
    issuer = await startOidcIssuer();
    onTestFinished(issuer.close);
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    keysOf = createIssuerKeys({
      targets: createTargetCheck([cidr('127.0.0.0/8')]),
      onFailure: () => undefined,
      timeoutMs: 60_000,
    });
  });

  /** The JWT header with the current key of the issuer. */
  const currentHeader = () => headerOf(issuer.sign('anybody'));
  const find = (header = currentHeader()) =>
    keysOf(issuer.url)(header).then(
      () => 'found',
      (error) => (error instanceof IssuerError ? 'unavailable' : 'unknown'),
    );
  const asked = (): number => issuer.requests.filter(({ url }) => url === '/jwks').length;

  test('are fetched once for all concurrent requests, and then cached', async () => {
    expect(await Promise.all(Array.from({ length: 50 }, () => find()))).toEqual(Array(50).fill('found'));
    vi.setSystemTime(Date.now() + 9 * 60_000);
    expect(await find()).toBe('found');
    expect(issuer.requests.map(({ url }) => url)).toEqual(['/.well-known/openid-configuration', '/jwks']);
  });

  test('are fetched again for an unknown key, at most once a minute', async () => {
    await find();
    issuer.rotate();
    vi.setSystemTime(Date.now() + 59_000);
    expect([await find(), asked()]).toEqual(['unknown', 1]);
    vi.setSystemTime(Date.now() + 1_000);
    expect([await find(), asked()]).toEqual(['found', 2]);
    for (let made = 0; made < 100; made += 1)
      expect(await find({ alg: 'RS256', kid: `made up ${made}` })).toBe('unknown');
    expect(asked()).toBe(2);
    vi.setSystemTime(Date.now() + 60_000);
    expect([await find({ alg: 'RS256', kid: 'made up' }), asked()]).toEqual(['unknown', 3]);
  });

  test('are used for at most ten minutes after the issuer has withdrawn them', async () => {
    const header = currentHeader();
    await find(header);
    issuer.rotate();
    vi.setSystemTime(Date.now() + 10 * 60_000);
    expect(await find(header)).toBe('unknown');
  });

  test('are kept while the issuer is down, and others are unknown', async () => {
    const header = currentHeader();
    await find(header);
    for (const down of [json(503, {}), silence, json(200, { keys: [] })]) {
      issuer.behaviour.keys = () => down;
      if (down === silence) {
        const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(AbortSignal.timeout(100));
        onTestFinished(() => timeout.mockRestore());
      }
      vi.setSystemTime(Date.now() + 11 * 60_000);
      expect(await find(header)).toBe('found');
      expect(await find({ alg: 'RS256', kid: 'new' })).toBe('unknown');
    }
  });

  test('are found as soon as the issuer answers for the first time', async () => {
    issuer.behaviour.discovery = () => json(500, {});
    expect(await find()).toBe('unavailable');
    issuer.behaviour.discovery = undefined;
    expect(await find()).toBe('found');
  });
});
