import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readAudit } from '../../../src/service/audit/audit.ts';
import { findToken, listTokens } from '../../../src/service/tokens/tokens.ts';
import { removeTrustRule } from '../../../src/service/trust/rules.ts';
import { databaseKinds } from '../../support/databases.ts';
import { startOidcIssuer } from '../../support/oidc-issuer.ts';
import { changeRows, findRows, removeOldRows } from '../../support/stored-rows.ts';
import { visit } from '../dashboard/browser-like.ts';
import { locksOf } from '../http/shared-service.ts';
import { audience, trustingService } from './trusting-service.ts';

type Sign = (claims?: Readonly<Record<string, unknown>>) => string;

describe.each(databaseKinds)('the tokens of a run on $name', (kind) => {
  const service = trustingService(kind);
  const operator = { name: 'operator:test', tokenId: null, address: null };

  /** A new token, as the main step, the renewer and the post step of a job each request one. */
  async function tokenOf(sign: Sign, claims: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const { status, body } = await service.exchange(sign(claims));
    expect(status).toBe(200);
    return body.access_token;
  }
  const statusOf = async (token: string) => (await service.ask('GET', '/v1/token', { token })).status;
  const idOf = async (token: string) => (await service.ask('GET', '/v1/token', { token })).body.id;

  test('have the permissions of the rule, and their locks show the run URL', async () => {
    const { sign, owner } = await service.trust({ scopes: ['sync', 'locks:write'], workspaces: [service.home] });
    const { status, headers, body } = await service.exchange(sign());
    expect(body).toEqual({
      access_token: expect.stringMatching(/^wsa_/),
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: 900,
      scope: 'sync locks:write',
    });
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    const token = body.access_token;
    const { take } = locksOf(service, service.home, token);
    const taken = await take('proven', { referer: 'https://elsewhere.example.com/run' });
    const origin = `${new URL(service.issuer.url).origin}/octo/game/actions/runs/4711/attempts/1`;
    expect(taken.body).toMatchObject({ owner, origin });
    const known = await service.ask('GET', '/v1/token', { token });
    expect(known.body).toEqual({
      id: expect.stringMatching(/^run_[0-9a-f]{32}$/),
      name: 'octo/game run 4711',
      owner,
      scopes: ['sync', 'locks:write'],
      workspaces: [service.home],
    });
  });

  test('can renew and release the same locks, and get the same response for a repeated request', async () => {
    const { sign } = await service.trust();
    const [main, renewer, post] = [await tokenOf(sign), await tokenOf(sign), await tokenOf(sign)];
    const locks = (token: string) => locksOf(service, service.home, token);
    const [path, key] = [randomUUID(), randomUUID()];
    const taken = await locks(main).take(path, { 'idempotency-key': key });
    const again = await locks(renewer).take(path, { 'idempotency-key': key });
    expect([again.status, again.text]).toEqual([201, taken.text]);
    const etag = taken.headers.get('etag') ?? '';
    expect((await locks(renewer).take(path, { 'if-match': etag })).status).toBe(200);
    expect((await locks(post).release(path, { 'if-match': etag })).status).toBe(204);
  });

  /** Moves the tokens of an owner, and the memory of their JWTs, back in time. */
  const pass = (owner: string, ms: number) =>
    changeRows(
      service.storage,
      'tokens',
      { expires_at: sql`expires_at - ${ms}`, forget_at: sql`forget_at - ${ms}` },
      { owner },
    );

  test('expire after 15 minutes, while their JWT cannot be exchanged again before it expires', async () => {
    const { sign, owner } = await service.trust();
    const inAnHour = Math.floor(Date.now() / 1_000) + 3_600;
    const jwt = sign({ exp: inAnHour });
    const { body: exchanged } = await service.exchange(jwt);
    await pass(owner, 14 * 60_000);
    expect(await statusOf(exchanged.access_token)).toBe(200);
    await pass(owner, 2 * 60_000);
    const { status, body } = await service.ask('GET', '/v1/token', { token: exchanged.access_token });
    expect([status, body.detail]).toEqual([401, 'The API token "octo/game run 4711" has expired.']);
    await removeOldRows(service.storage);
    const again = await service.exchange(jwt);
    expect([again.status, service.told(again)]).toEqual([400, expect.stringContaining('was exchanged before')]);
    // Its leeway counts, and then it is forgotten.
    await pass(owner, 44 * 60_000);
    await removeOldRows(service.storage);
    expect((await service.exchange(jwt)).status).toBe(400);
    await pass(owner, 2 * 60_000);
    await removeOldRows(service.storage);
    expect(await findRows(service.storage, 'tokens', { owner })).toEqual([]);
  });

  test('are revoked when their trust rule is removed, and those of other rules stay valid', async () => {
    const { sign, id } = await service.trust();
    const other = await service.trust();
    const [ofRule, ofOther] = [await tokenOf(sign), await tokenOf(other.sign)];
    await service.storage.commit('global', (db) => removeTrustRule(db, operator, id));
    expect([await statusOf(ofRule), await statusOf(ofOther)]).toEqual([401, 200]);
  });

  test('are not issued if the rule is removed while the keys of the issuer are fetched', async () => {
    const issuer = await startOidcIssuer();
    onTestFinished(issuer.close);
    const { id, claims } = await service.trust({ issuer: issuer.url });
    issuer.behaviour.keys = async () => {
      await service.storage.commit('global', (db) => removeTrustRule(db, operator, id));
      return undefined;
    };
    const response = await service.exchange(issuer.sign(audience, claims));
    expect([response.status, response.body.error]).toEqual([400, 'invalid_request']);
    expect(service.told(response)).toContain('was just removed');
  });

  test('are not listed among the API tokens, and cannot be used to sign in to the dashboard', async () => {
    const { sign, owner } = await service.trust();
    const token = await tokenOf(sign);
    const { storage } = service;
    const { id } = (await findRows(storage, 'tokens', { owner }))[0] ?? expect.fail('It was not stored.');
    expect((await listTokens(storage)).filter((each) => each.owner === owner)).toEqual([]);
    expect(await findToken(storage.read, id)).toBeUndefined();
    const response = await visit(service).post('/sign-in', { token, to: '/' });
    expect([response.status, response.headers.get('set-cookie')]).toEqual([403, null]);
    expect(response.text).toContain('This token belongs to a CI run and expires within 15 minutes.');
  });

  test('are audited once per run attempt, with their permissions and their trust rule', async () => {
    const { sign, owner, id, claims } = await service.trust({ workspaces: [service.home] });
    const token = await tokenOf(sign);
    await tokenOf(sign);
    await tokenOf(sign, { run_attempt: '2' });
    const runId = await idOf(token);
    const { entries } = await readAudit(service.storage, { limit: 100 });
    const ofRule = entries.filter(({ detail }) => JSON.stringify(detail).includes(id) && 'run_id' in detail);
    expect(ofRule).toHaveLength(2);
    expect(ofRule.find(({ token_id }) => token_id === runId)).toMatchObject({
      actor: 'octo/game run 4711',
      action: 'token.exchanged',
      address: expect.stringMatching(/^198\.18\./),
      detail: {
        issuer: service.issuer.url,
        repository: 'octo/game',
        repository_id: claims['repository_id'],
        run_id: '4711',
        run_attempt: '1',
        owner,
        scopes: ['locks:write'],
        workspaces: [service.home],
        rule: id,
      },
    });
  });

  test('have the requested scopes if the rule allows them', async () => {
    const { sign } = await service.trust({ scopes: ['sync', 'locks:write'] });
    const fewer = await service.exchange(sign(), { form: { scope: 'locks:read' } });
    expect(fewer.body.scope).toBe('locks:read');
    const known = await service.ask('GET', '/v1/token', { token: fewer.body.access_token });
    expect(known.body.scopes).toEqual(['locks:read']);
    const all = await service.exchange(sign(), { form: { scope: '' } });
    expect(all.body.scope).toBe('sync locks:write');
    const jwt = sign();
    for (const scope of ['hooks:write', 'locks:read admin', 'locks:read moon']) {
      const refused = await service.exchange(jwt, { form: { scope } });
      expect([refused.status, refused.body.error]).toEqual([400, 'invalid_scope']);
      expect(service.told(refused)).toMatch(/token exchange refused: The job requested/);
    }
    const repeated = await service.exchange(jwt, { form: { scope: 'hooks:write '.repeat(1_000) } });
    expect(service.told(repeated)).toContain('The job requested hooks:write, which');
    // A job that no rule trusts does not learn which scopes exist.
    const stranger = await service.exchange(sign({ repository_id: '1' }), { form: { scope: 'moon' } });
    expect(stranger.body.error).toBe('invalid_request');
    expect((await service.exchange(jwt)).status).toBe(200);
  });

  test('are not stored or logged as plain text, and neither is their JWT', async () => {
    const { sign } = await service.trust();
    const jwt = sign();
    const { body } = await service.exchange(jwt);
    await service.ask('GET', '/v1/workspaces', { token: body.access_token });
    const { entries } = await readAudit(service.storage, { limit: 100 });
    const rows = await findRows(service.storage, 'tokens');
    const kept = [service.log(), JSON.stringify(entries), JSON.stringify(rows)].join('');
    for (const secret of [body.access_token, ...jwt.split('.')]) expect(kept).not.toContain(secret);
  });
});

describe('the rate limit of a run', () => {
  const service = trustingService(undefined, { rateLimit: { perSecond: 0.001, burst: 3 } });

  test('is shared by all of its tokens, and separate for each run', async () => {
    const { sign } = await service.trust();
    const ask = async (claims = {}) => {
      const { body } = await service.exchange(sign(claims));
      return (await service.ask('GET', '/v1/token', { token: body.access_token })).status;
    };
    expect([await ask(), await ask(), await ask(), await ask()]).toEqual([200, 200, 200, 429]);
    expect(await ask({ run_id: '4712' })).toBe(200);
  });
});
