import pino from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createTargetCheck } from '../../../src/service/outbound/target-address.ts';
import { cidr } from '../../../src/service/platform/ip-address.ts';
import { createMetrics } from '../../../src/service/runtime/metrics.ts';
import { createExchangeToken } from '../../../src/service/trust/exchange.ts';
import { audience, newAddress, trustingService } from './trusting-service.ts';

describe('exchanges', () => {
  const service = trustingService();

  /** An instance, and its clock. */
  function instance() {
    let now = 0;
    const exchange = createExchangeToken({
      storage: service.storage,
      targets: createTargetCheck({ allowedNetworks: [cidr('127.0.0.0/8')] }),
      metrics: createMetrics(),
      log: pino({ level: 'silent' }),
      publicUrl: () => audience,
      clock: () => now,
    });
    const show = (jwt: string, address = newAddress()) => exchange({ jwt, scopes: [], address, requestId: 'req_1' });
    return {
      show,
      pass(ms: number) {
        now += ms;
      },
    };
  }

  test('of a rule are 300 a minute, and those of another rule go on', async () => {
    const { show, pass } = instance();
    const [{ sign }, other] = [await service.trust(), await service.trust()];
    const shown = await Promise.all(Array.from({ length: 310 }, () => show(sign({}, { alg: 'ES256' }))));
    expect(shown.filter(({ kind }) => kind === 'exchanged')).toHaveLength(300);
    expect(shown.filter(({ kind }) => kind === 'limited')).toHaveLength(10);
    const jwt = sign();
    expect(await show(jwt)).toEqual({ kind: 'limited', retryAfterSeconds: 60 });
    expect((await show(other.sign())).kind).toBe('exchanged');
    pass(60_000);
    expect((await show(jwt)).kind).toBe('exchanged');
  });

  test('that come to nothing do not count for the rule', async () => {
    const { show } = instance();
    const { sign } = await service.trust();
    const jwt = sign({}, { alg: 'ES256' });
    const shown = await Promise.all(Array.from({ length: 301 }, () => show(jwt)));
    expect(shown.filter(({ kind }) => kind === 'exchanged')).toHaveLength(1);
    expect((await show(sign())).kind).toBe('exchanged');
  });

  /** Shows them one after the other. */
  async function shownInTurn(show: ReturnType<typeof instance>['show'], jwts: readonly string[], address: string) {
    const kinds: string[] = [];
    for (const jwt of jwts) kinds.push((await show(jwt, address)).kind);
    return { refused: kinds.filter((kind) => kind === 'refused').length, last: kinds.at(-1) };
  }

  test.each([
    ['that no rule allows', { repository_id: '1' }],
    ['for another service', { aud: 'https://other.example.com' }],
    ['that has expired', { exp: 1 }],
    ['that was exchanged before', { jti: 'one' }],
  ])(
    'of a job in a loop, with an identity %s, are 60 a minute, and other jobs behind its address go on',
    async (_, claims) => {
      const { show, pass } = instance();
      const [looping, other] = [await service.trust(), await service.trust()];
      const [here, elsewhere] = [newAddress(), newAddress()];
      const wrong = () => looping.sign({ sub: 'repo:octo/looping', ...claims }, { alg: 'ES256' });
      if ('jti' in claims) await show(wrong(), here);
      expect(await shownInTurn(show, Array.from({ length: 62 }, wrong), here)).toEqual({
        refused: 60,
        last: 'limited',
      });
      expect((await show(wrong(), elsewhere)).kind).toBe('refused');
      expect((await show(other.sign(), here)).kind).toBe('exchanged');
      expect((await show(looping.sign(), here)).kind).toBe('exchanged');
      pass(60_000);
      expect((await show(wrong(), here)).kind).toBe('refused');
    },
  );

  test.each([
    ['that are no JWTs', () => 'no jwt'],
    ['of an issuer that no rule names', () => service.issuer.sign(audience, { iss: 'https://ci.example.com' })],
  ])('with identities %s are 60 a minute for an address, and others behind it go on', async (_, wrong) => {
    const { show, pass } = instance();
    const { sign } = await service.trust();
    const [here, elsewhere] = [newAddress(), newAddress()];
    expect(await shownInTurn(show, Array.from({ length: 62 }, wrong), here)).toEqual({ refused: 60, last: 'limited' });
    expect((await show(wrong(), elsewhere)).kind).toBe('refused');
    expect((await show(sign(), here)).kind).toBe('exchanged');
    pass(60_000);
    expect((await show(wrong(), here)).kind).toBe('refused');
  });

  test('with forged identities of a job do not count for that job', async () => {
    const { show } = instance();
    const { sign } = await service.trust();
    const forged = () => `${sign().slice(0, -8)}AAAAAAAA`;
    for (let stranger = 0; stranger < 3; stranger += 1) {
      const jwts = Array.from({ length: 61 }, forged);
      expect(await shownInTurn(show, jwts, newAddress())).toEqual({ refused: 60, last: 'limited' });
    }
    expect((await show(sign())).kind).toBe('exchanged');
  });

  test('that are refused are 600 a minute for an address, whatever they claim', async () => {
    const { show } = instance();
    const { sign } = await service.trust();
    const here = newAddress();
    let made = 0;
    const wrong = () => {
      made += 1;
      const iss = made % 2 === 0 ? { iss: `https://${made}.example.com` } : { repository_id: '1' };
      return sign({ sub: `repo:octo/${made}`, ...iss }, { alg: 'ES256' });
    };
    const jwts = Array.from({ length: 602 }, wrong);
    expect(await shownInTurn(show, jwts, here)).toEqual({ refused: 600, last: 'limited' });
    expect((await show(sign())).kind).toBe('exchanged');
  });

  test('commit in a scope of their own, so that changes of workspaces do not wait for them', async () => {
    const { show } = instance();
    const { sign } = await service.trust();
    const commit = vi.spyOn(service.storage, 'commit');
    onTestFinished(() => commit.mockRestore());
    expect((await show(sign())).kind).toBe('exchanged');
    expect(commit.mock.calls.map(([scope]) => scope)).toEqual(['tokens']);
  });

  test('of many jobs behind one address that begin at the same time are all made', async () => {
    const { show } = instance();
    const { sign } = await service.trust();
    const jobs = await Promise.all(Array.from({ length: 200 }, () => show(sign({}, { alg: 'ES256' }), '192.0.2.3')));
    expect(jobs.map(({ kind }) => kind)).toEqual(Array(200).fill('exchanged'));
  });

  test('beyond a limit are answered with when to come again, and counted', async () => {
    const { sign } = await service.trust();
    const address = '192.0.2.4';
    for (let shown = 0; shown < 60; shown += 1) await service.exchange('no jwt', { address });
    expect((await service.exchange(sign(), { address })).status).toBe(200);
    const limited = await service.exchange('no jwt', { address });
    expect([limited.status, limited.body.error]).toEqual([429, 'temporarily_unavailable']);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(30);
    const { text } = await service.ask('GET', '/metrics', { token: service.secret });
    expect(text).toMatch(/^workspace_token_exchanges_total\{outcome="refused"\} 60$/m);
    expect(text).toMatch(/^workspace_token_exchanges_total\{outcome="limited"\} 1$/m);
  });
});

describe('a form', () => {
  const service = trustingService();
  const [one, two] = ['a', 'b'].map((jwt) => `subject_token=${jwt}`);
  const type = 'urn:ietf:params:oauth:token-type:';

  test.each([
    [
      'with another grant',
      { form: { grant_type: 'client_credentials' } },
      'unsupported_grant_type',
      /The only grant_type/,
    ],
    ['without a grant', { form: { grant_type: '' } }, 'invalid_request', /grant_type is missing/],
    ['without a token', { form: { subject_token: '' } }, 'invalid_request', /subject_token is missing/],
    [
      'with another kind of token',
      { form: { subject_token_type: `${type}saml2` } },
      'invalid_request',
      /subject_token_type/,
    ],
    [
      'for another kind of token',
      { form: { requested_token_type: `${type}jwt` } },
      'invalid_request',
      /requested_token_type/,
    ],
    ['that is JSON', { headers: { 'content-type': 'application/json' } }, 'invalid_request', /x-www-form-urlencoded/],
    [
      'that says something twice',
      { raw: `${one}&${two}` },
      'invalid_request',
      /subject_token: It is given more than once/,
    ],
    ['that cannot be decoded', { raw: 'subject_token=%ff' }, 'invalid_request', /percent-encoded/],
  ] as const)('%s is refused, and says so', async (_what, shown, error, description) => {
    const response = await service.exchange('no jwt', shown);
    expect([response.status, response.body.error]).toEqual([400, error]);
    expect(response.body.error_description).toMatch(description);
  });

  test('is what the document describes', async () => {
    const { body } = await service.ask('GET', '/v1/openapi.json');
    const { content } = body.paths['/v1/token'].post.requestBody;
    const { required } = body.components.schemas.TokenExchangeRequest;
    expect(Object.keys(content)).toEqual(['application/x-www-form-urlencoded']);
    expect(required).toEqual(['grant_type', 'subject_token', 'subject_token_type']);
  });

  test('of more than 128 KiB is not read', async () => {
    expect((await service.exchange('a'.repeat(128 * 1024))).status).toBe(413);
  });

  test('may call the identity an id_token', async () => {
    const { sign } = await service.trust();
    expect((await service.exchange(sign(), { form: { subject_token_type: `${type}id_token` } })).status).toBe(200);
  });
});

describe('a service that does not know its public address', () => {
  const service = trustingService(undefined, { publicUrl: undefined });

  test('accepts no identity, and says in its log what it lacks', async () => {
    const { sign } = await service.trust();
    const response = await service.exchange(sign());
    expect([response.status, response.body.error]).toEqual([400, 'invalid_request']);
    expect(service.told(response)).toContain('start it with --public-url');
    expect(service.issuer.requests).toEqual([]);
  });
});
