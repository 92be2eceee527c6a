import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { locksOf } from '../http/shared-service.ts';
import { trustingService } from './trusting-service.ts';

describe.each(databaseKinds)('the token exchange on $name', (kind) => {
  const service = trustingService(kind);

  test('issues a token with the permissions of the rule, and its locks show the run URL', async () => {
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
});
