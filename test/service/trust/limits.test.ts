import { describe, expect, test } from 'vitest';
import type { Reply } from '../../support/running-service.ts';
import { exchangeOn, newAddress, trustingService } from './trusting-service.ts';

describe('token exchanges', () => {
  const service = trustingService();

  /** A service instance with its own clock. */
  function instance() {
    let now = 0;
    const exchange = exchangeOn(service, () => now);
    const show = (jwt: string, address = newAddress()) => exchange({ jwt, scopes: [], address, requestId: 'req_1' });
    return {
      show,
      pass(ms: number) {
        now += ms;
      },
    };
  }

  test('are limited to 1,200 a minute for an address, and counted before any work', async () => {
    const { show, pass } = instance();
    const { sign } = await service.trust();
    const here = newAddress();
    // The keys of the issuer are fetched once, before this process is busy.
    expect((await show(sign({}, { alg: 'ES256' }))).kind).toBe('exchanged');
    const jwts = Array.from({ length: 1_300 }, (_, index) =>
      index % 100 === 0 ? sign({}, { alg: 'ES256' }) : 'no jwt',
    );
    const shown = Map.groupBy(await Promise.all(jwts.map((jwt) => show(jwt, here))), ({ kind }) => kind);
    expect(Object.fromEntries([...shown].map(([kind, results]) => [kind, results.length]))).toEqual({
      exchanged: 12,
      refused: 1_188,
      limited: 100,
    });
    expect(await show(sign(), here)).toEqual({ kind: 'limited', retryAfterSeconds: 1 });
    expect((await show(sign())).kind).toBe('exchanged');
    pass(1_000);
    expect((await show(sign(), here)).kind).toBe('exchanged');
  });

  test('return 429 with Retry-After beyond a limit', async () => {
    const { sign } = await service.trust();
    const address = '192.0.2.4';
    // Many at a time: the service admits 20 more each second, and a busy machine may send fewer one after the other.
    const replies: Reply[] = [];
    while (replies.every(({ status }) => status === 400)) {
      replies.push(
        ...(await Promise.all(
          Array(200)
            .fill('no jwt')
            .map((jwt) => service.exchange(jwt, { address })),
        )),
      );
    }
    const limited = replies.filter(({ status }) => status !== 400);
    for (const { status, body, headers } of limited) {
      expect([status, body.error, headers.get('retry-after')]).toEqual([429, 'temporarily_unavailable', '1']);
    }
    const refused = replies.length - limited.length;
    expect((await service.exchange(sign())).status).toBe(200);
    expect(refused).toBeGreaterThanOrEqual(1_200);
  });
});

describe('the form of a token exchange', () => {
  const service = trustingService();
  const [one, two] = ['a', 'b'].map((jwt) => `subject_token=${jwt}`);
  const type = 'urn:ietf:params:oauth:token-type:';

  test.each([
    [
      'has another grant type',
      { form: { grant_type: 'client_credentials' } },
      'unsupported_grant_type',
      /The only supported grant_type/,
    ],
    [
      'has another type of token',
      { form: { subject_token_type: `${type}saml2` } },
      'invalid_request',
      /subject_token_type/,
    ],
    ['is JSON', { headers: { 'content-type': 'application/json' } }, 'invalid_request', /x-www-form-urlencoded/],
    [
      'has the same field twice',
      { raw: `${one}&${two}` },
      'invalid_request',
      /subject_token: It is given more than once/,
    ],
    ['cannot be decoded', { raw: 'subject_token=%ff' }, 'invalid_request', /percent-encoded/],
  ] as const)('is rejected with a reason if it %s', async (_what, shown, error, description) => {
    const response = await service.exchange('no jwt', shown);
    expect([response.status, response.body.error]).toEqual([400, error]);
    expect(response.body.error_description).toMatch(description);
  });
});

describe('a service without a public URL', () => {
  const service = trustingService(undefined, { publicUrl: undefined });

  test('accepts no identity tokens, and logs the missing setting', async () => {
    const { sign } = await service.trust();
    const response = await service.exchange(sign());
    expect([response.status, response.body.error]).toEqual([400, 'invalid_request']);
    expect(service.told(response)).toContain('Start it with --public-url');
    expect(service.issuer.requests).toEqual([]);
  });
});
