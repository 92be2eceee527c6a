import { describe, expect, test } from 'vitest';
import { identityOf } from '../../src/cli/identity.ts';
import type { ClientOptions } from '../../src/client/client.ts';
import type { IssueIdentityToken } from '../../src/client/exchange.ts';
import type { Answer, SeenRequest } from '../support/other-servers/other-server.ts';
import { inTurn, json, nothing, page, problem, raw, reset } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { errorOf, game, hero, realTime, start, testClient, ttl } from './test-client.ts';

const list = json(200, { workspaces: ['game'] });
const unauthorized = problem(401, { title: 'Unauthorized' }, { 'www-authenticate': 'Bearer' });

const audience = 'https://assets.example.com';

/** Answers exchanges with the first argument, or each with a new token, and other requests with the second one. */
async function exchangingClient(
  exchange: Answer | 'new each time',
  answer: Answer = list,
  { issuer, ...options }: Partial<ClientOptions> & { readonly issuer?: IssueIdentityToken } = {},
) {
  let given = 0;
  const anew: Answer = (response, request) => {
    given += 1;
    json(200, { access_token: `wsa_${given}`, expires_in: 900 })(response, request);
  };
  const server = await startOtherServer((response, request) => {
    const isExchange = request.url === '/v1/token';
    (isExchange ? (exchange === 'new each time' ? anew : exchange) : answer)(response, request);
  });
  let proofs = 0;
  const masked: string[] = [];
  async function issueProof(): Promise<string> {
    proofs += 1;
    return `proof.${proofs}`;
  }
  const onToken = (token: string): void => void masked.push(token);
  const credentials = { kind: 'identity', audience, issuer: issuer ?? issueProof, onToken } as const;
  const client = testClient(server.baseUrl, { credentials, ...options });
  const exchanges = (): readonly SeenRequest[] => server.requests.filter(({ url }) => url === '/v1/token');
  const tokens = (): readonly (string | undefined)[] =>
    server.requests.filter(({ url }) => url !== '/v1/token').map(({ headers }) => headers.authorization);
  return { client, server, exchanges, tokens, masked };
}

const proofsIn = (requests: readonly SeenRequest[]): readonly (string | null)[] =>
  requests.map(({ body }) => new URLSearchParams(body).get('subject_token'));

test('exchanges an identity as defined in RFC 8693, once for all requests', async () => {
  const { client, exchanges, tokens, masked } = await exchangingClient('new each time');
  await Promise.all(Array.from({ length: 20 }, () => client.ask()));
  await client.ask();
  expect(tokens()).toEqual(Array(21).fill('Bearer wsa_1'));
  expect(masked).toEqual(['wsa_1']);
  const [only, ...others] = exchanges();
  expect(others).toEqual([]);
  expect(only).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } });
  expect(only?.headers.authorization).toBeUndefined();
  expect(Object.fromEntries(new URLSearchParams(only?.body))).toEqual({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    subject_token: 'proof.1',
  });
});

test('hides an issued token that the service repeats, in errors and in values', async () => {
  const bearer = (request: SeenRequest): string => request.headers.authorization ?? '';
  const { client } = await exchangingClient(
    json(200, { access_token: 'wsa_geheim-geheim' }),
    inTurn(
      (response, request) => problem(422, { detail: `No: ${bearer(request)}` })(response, request),
      (response, request) => json(200, { workspaces: [{ id: 'game', told: bearer(request) }] })(response, request),
    ),
  );
  expect((await errorOf(client.ask())).message).toMatch(/^No: Bearer \*\*\* \(/);
  expect(JSON.stringify(await client.ask())).not.toContain('geheim');
});

const steps = (...all: readonly (readonly [minutes: number, token: string])[]) => all;

test.each([
  ['until two minutes before its end', { expires_in: 900 }, steps([12, 'wsa_1'], [0.9, 'wsa_1'], [0.2, 'wsa_2'])],
  ['for half of its lifetime if that is short', { expires_in: 60 }, steps([0.4, 'wsa_1'], [0.2, 'wsa_2'])],
  ['until it is rejected if its lifetime is unknown', {}, steps([10_000, 'wsa_1'])],
])('uses a token %s', async (_, says, steps) => {
  let given = 0;
  let now = start;
  const exchange: Answer = (response, request) => {
    given += 1;
    json(200, { access_token: `wsa_${given}`, ...says })(response, request);
  };
  const { client, tokens } = await exchangingClient(exchange, list, { clock: () => now });
  await client.ask();
  for (const [minutes, token] of steps) {
    now += minutes * 60_000;
    await client.ask();
    expect(tokens().at(-1)).toBe(`Bearer ${token}`);
  }
});

describe('a refused token', () => {
  const refusing =
    (...refused: readonly string[]): Answer =>
    (response, request) =>
      (refused.includes(request.headers.authorization ?? '') ? unauthorized : list)(response, request);

  test('is replaced once for all requests, and each request is repeated with its key', async () => {
    const granted = json(201, { id: 'lock_1' });
    const { client, exchanges, server } = await exchangingClient('new each time', (response, request) =>
      (request.headers.authorization === 'Bearer wsa_1' ? unauthorized : granted)(response, request),
    );
    const request = { workspace: game, path: hero, type: 'exclusive', ttl: ttl('1h') };
    const lock = (idempotencyKey: string) => client.acquireLock({ ...request, idempotencyKey }, client.within());
    const keys = Array.from({ length: 8 }, (_, index) => `key-${index}`);
    const results = await Promise.all(keys.map(lock));
    expect(results.map(({ kind }) => kind)).toEqual(keys.map(() => 'acquired'));
    expect(proofsIn(exchanges())).toEqual(['proof.1', 'proof.2']);
    const sent = server.requests.filter(({ url }) => url !== '/v1/token');
    for (const key of keys) {
      const tokens = sent.filter(({ headers }) => headers['idempotency-key'] === key);
      expect(tokens.map(({ headers }) => headers.authorization)).toEqual(['Bearer wsa_1', 'Bearer wsa_2']);
    }
  });

  test('is not replaced a second time: the error says so, and no more requests are sent', async () => {
    const { client, exchanges, tokens } = await exchangingClient('new each time', unauthorized);
    const error = await errorOf(client.ask());
    expect(error).toMatchObject({ status: undefined, failure: { kind: 'no-token', isTransient: false } });
    expect(error.message).toContain('The service rejected the token that it had just issued to this job.');
    expect(tokens()).toEqual(['Bearer wsa_1', 'Bearer wsa_2']);
    expect(exchanges()).toHaveLength(2);
  });

  test('is replaced each time if the process runs long enough', async () => {
    const refused: string[] = [];
    let now = start;
    const { client, tokens } = await exchangingClient(
      'new each time',
      (response, request) => refusing(...refused)(response, request),
      { clock: () => now },
    );
    for (const token of ['Bearer wsa_1', 'Bearer wsa_2', 'Bearer wsa_3']) {
      await client.ask();
      expect(tokens().at(-1)).toBe(token);
      refused.push(token);
      now += 60_000;
    }
  });
});

const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJnZWhlaW0ifQ.c2lnbmF0dXJl';

describe('an exchange', () => {
  const gives = json(200, { access_token: 'wsa_1', expires_in: 900 });

  test.each<[string, readonly [Answer, ...Answer[]], readonly string[]]>([
    ['after 429, as Retry-After says', [nothing(429, { 'retry-after': '7' }), gives], ['proof.1', 'proof.1']],
    ['after 503, as Retry-After says', [nothing(503, { 'retry-after': '7' }), gives], ['proof.1', 'proof.1']],
    ['after a broken connection', [reset, gives], ['proof.1', 'proof.1']],
    [
      'with another proof if an unanswered attempt may have used the first',
      [reset, json(400, { error: 'invalid_request' }), gives],
      ['proof.1', 'proof.1', 'proof.2'],
    ],
  ])('is retried %s', async (_, answers, proofs) => {
    const { client, exchanges } = await exchangingClient(inTurn(...answers));
    expect((await client.ask()).items).toHaveLength(1);
    expect(proofsIn(exchanges())).toEqual(proofs);
  });

  const refusal = json(400, { error: 'invalid_request', error_description: `No trust rule for ${jwt}.` });

  const unsupported = 'does not support OIDC token exchange. Set WORKSPACE_TOKEN to an API token, from a secret (';
  const noToken = 'The response cannot be used: it contains no token';
  const elsewhere = nothing(308, { location: 'https://elsewhere.example/token?a=b' });

  test.each<[string, Answer, string, number]>([
    ['rejected', refusal, `No trust rule for ***. The audience of the identity token is ${audience}; it must be `, 1],
    ['not supported', problem(404, { title: 'Not Found' }), unsupported, 1],
    ['rejected for lack of a token', unauthorized, unsupported, 1],
    ['answered by a gateway', json(404, { message: 'no Route' }), 'does not support OIDC token exchange: Set ', 5],
    ['refused', elsewhere, 'The service redirects to https://elsewhere.example/token. Redirects are not ', 1],
    ['answered with something else', raw(200, jwt), noToken, 5],
    ['answered with a token that is not valid in a header', json(200, { access_token: `${jwt}\r\nx: y` }), noToken, 5],
    ['never possible', problem(503, { detail: 'Could not fetch the keys.' }), 'Could not fetch the keys (', 5],
  ])('ends with an error if it is %s, and a permanent failure is not retried', async (_, answer, reason, asked) => {
    const { client, exchanges, tokens } = await exchangingClient(answer, list, { issuer: async () => jwt });
    const error = await errorOf(client.ask());
    expect(error).toMatchObject({ status: undefined, attempts: 0 });
    expect(error.message).toContain(reason);
    expect(error.message).not.toContain(jwt);
    // Callers that keep trying, such as a post-step, do so only if another exchange may succeed.
    expect(error.isTransient).toBe(asked > 1);
    expect(exchanges()).toHaveLength(asked);
    expect(tokens()).toEqual([]);
  });

  test('continues for other requests after the request that started it was cancelled', async () => {
    const stop = new AbortController();
    const late: Answer = (...received) => {
      stop.abort();
      setTimeout(() => gives(...received), 100);
    };
    const { client, exchanges } = await exchangingClient(late);
    const [cancelled, other] = [errorOf(client.ask(20_000, stop.signal)), client.ask(20_000)];
    expect((await cancelled).failure.kind).toBe('aborted');
    expect((await other).items).toHaveLength(1);
    expect(exchanges()).toHaveLength(1);
  });

  test('continues for other requests after the deadline of the request that started it', async () => {
    const late: Answer = (...received) => void setTimeout(() => gives(...received), 500);
    const { client, exchanges } = await exchangingClient(late, list, { ...realTime, retries: 0 });
    const [short, other] = [errorOf(client.ask(200)), client.ask(20_000)];
    expect((await short).failure.kind).toBe('deadline');
    expect((await other).items).toHaveLength(1);
    expect(exchanges()).toHaveLength(1);
  });
});

describe('the identity tokens of a job that has a few', () => {
  const refused = json(400, { error: 'invalid_request' });
  const gives = json(200, { access_token: 'wsa_1', expires_in: 0 });

  test.each<[string, readonly [Answer, ...Answer[]], readonly string[]]>([
    ['kept until the service accepts them', [page(503), json(403, {}), gives, gives], ['one', 'one', 'one', 'two']],
    ['replaced if a lost response may have accepted them', [reset, refused, gives], ['one', 'one', 'two']],
    ['replaced once the service has rejected them', [refused, gives], ['one', 'two']],
  ])('are %s', async (_, answers, proofs) => {
    const answer = inTurn(...answers);
    const server = await startOtherServer((...request) => (request[1].url === '/v1/token' ? answer : list)(...request));
    const credentials = identityOf({ WORKSPACE_ID_TOKEN: 'one', WORKSPACE_ID_TOKEN_2: 'two' }, server.baseUrl);
    const client = testClient(server.baseUrl, { ...(credentials && { credentials }), retries: 0 });
    const proofsSent = () => proofsIn(server.requests.filter(({ url }) => url === '/v1/token'));
    while (proofsSent().length < proofs.length) await client.ask().catch(() => undefined);
    expect(proofsSent()).toEqual(proofs);
  });
});

test.each([json(403, { message: 'Forbidden' }), json(404, { message: 'Not Found' }), page(403)])(
  'takes the server of identity tokens at its word, whatever marks the service has shown',
  async (refusal) => {
    const runner = await startOtherServer(refusal);
    const service = await startOtherServer(list);
    const issuer = { requestUrl: new URL('/oidc', runner.baseUrl).href, requestToken: 'runner-token' };
    const credentials = { kind: 'identity', audience, issuer } as const;
    const marks = { read: () => true, write: () => undefined };
    const client = testClient(service.baseUrl, { credentials, marks });
    expect(await errorOf(client.ask())).toMatchObject({ failure: { kind: 'no-token', isTransient: false } });
    expect(runner.requests).toHaveLength(1);
    expect(service.requests).toEqual([]);
  },
);
