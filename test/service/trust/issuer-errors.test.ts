import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type IssuerBehaviour, type IssuerOptions, startOidcIssuer } from '../../support/oidc-issuer.ts';
import { json, nothing, raw, silence } from '../../support/other-servers/responses.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { audience, trustingService } from './trusting-service.ts';

const addresses: Readonly<Record<string, string>> = {
  'public.example.com': '93.184.215.14',
  'private.example.com': '10.0.0.7',
  'issuer.example.com': '127.0.0.1',
};

const resolve = async (hostname: string): Promise<readonly string[]> => [addresses[hostname] ?? ''];

const service = trustingService(undefined, { resolve });

const discovered = (document: object) => ({ discovery: () => json(200, document) });

type Trouble = readonly [behaviour: IssuerBehaviour, told: RegExp];

const troubles: readonly Trouble[] = [
  [{ discovery: () => nothing(302, { location: '/jwks' }) }, /the redirect 302, which is not followed/],
  // Too large for any client to read.
  [{ keys: () => json(200, { padding: 'a'.repeat(2 * 1024 * 1024) }) }, /it sent more than 1024 KB/],
  [{ discovery: () => raw(200, '<html>', { 'content-type': 'application/json' }) }, /not valid OpenID Connect/],
  [{ discovery: () => json(503, {}) }, /returned the status 503/],
  [
    discovered({ issuer: 'https://token.actions.githubusercontent.com', jwks_uri: 'https://public.example.com/jwks' }),
    /its discovery document names another issuer: "https:\/\/token.actions.githubusercontent.com"/,
  ],
];

/** URLs that an issuer gives for its keys, and the logged reasons. */
const places: readonly (readonly [jwks: string, told: RegExp])[] = [
  ['https://private.example.com/jwks', /leads to an address that is not public/],
  ['http://public.example.com/jwks', /is not encrypted.*use https/],
];

async function exchangeWith(behaviour: IssuerBehaviour, jwksAt?: string, options?: IssuerOptions) {
  const issuer = await startOidcIssuer(options);
  onTestFinished(issuer.close);
  Object.assign(
    issuer.behaviour,
    jwksAt === undefined ? behaviour : discovered({ issuer: issuer.url, jwks_uri: jwksAt }),
  );
  const { claims } = await service.trust({ issuer: issuer.url });
  return service.exchange(issuer.sign(audience, claims));
}

const exchangeAll = (all: readonly Trouble[]) =>
  all.map(([behaviour, told]) => ({ told, answer: exchangeWith(behaviour) }));

async function expectTold(all: readonly { readonly told: RegExp; readonly answer: ReturnType<typeof exchangeWith> }[]) {
  for (const { told, answer: asked } of all) {
    const answer = await asked;
    expect([answer.status, answer.body.error]).toEqual([503, 'temporarily_unavailable']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(50);
    expect(service.told(answer)).toMatch(told);
  }
}

test('answers 503 with Retry-After if an issuer does not answer in time, and logs the reason', () =>
  expectTold(exchangeAll([[{ keys: () => silence }, /it did not respond within 5 s/]])));

test('answers 503 with Retry-After if the keys of an issuer cannot be fetched, and logs the reason', async () => {
  // Disables the timeout, so that a slow machine does not turn other failures into timeouts.
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal);
  onTestFinished(() => timeout.mockRestore());
  await expectTold([
    ...exchangeAll(troubles),
    ...places.map(([jwks, told]) => ({ told, answer: exchangeWith({}, jwks) })),
  ]);
});

test('requires a trusted certificate with the right name from an https issuer', async () => {
  const name = 'issuer.example.com';
  const tls = { name, ...selfSigned(name) };
  const trustedBefore = getCACertificates('default');
  onTestFinished(() => setDefaultCACertificates(trustedBefore));
  const unknown = await exchangeWith({}, undefined, { tls });
  expect(unknown.status).toBe(503);
  expect(service.told(unknown)).toContain('the connection failed (DEPTH_ZERO_SELF_SIGNED_CERT)');
  const ofAnother = { name, ...selfSigned('another.example.com') };
  setDefaultCACertificates([tls.cert, ofAnother.cert]);
  expect((await exchangeWith({}, undefined, { tls: ofAnother })).status).toBe(503);
  expect((await exchangeWith({}, undefined, { tls })).status).toBe(200);
});
