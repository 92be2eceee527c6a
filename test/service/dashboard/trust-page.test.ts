import { beforeAll, describe, expect, test } from 'vitest';
import { readAudit } from '../../../src/service/audit/read-audit.ts';
import { listTrustRules } from '../../../src/service/trust/rules.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { type Fields, type SignedIn, signedIn } from './browser-like.ts';
import { expectHarmless, hostileTexts } from './hostile.ts';

const service = serviceOfTests();
let visitor: SignedIn;
let game: string;
beforeAll(async () => {
  visitor = await signedIn(service, { name: 'root', scopes: ['admin'] });
  game = await service.workspace();
});

const right: Fields = {
  repository: 'octo/game',
  repositoryId: ' 123 ',
  repositoryOwnerId: '45',
  ref: 'refs/heads/main',
  environment: '',
  workflow: '.github/workflows/release.yml',
  event: '',
  owner: 'release-bot',
  scope: ['sync', 'locks:write'],
  reach: 'all',
  issuer: 'https://token.actions.githubusercontent.com',
  properties: '',
  claims: '',
};
const gitlab: Fields = {
  ...right,
  ...{ repository: '', repositoryId: '', repositoryOwnerId: '', ref: '', workflow: '' },
  issuer: 'https://gitlab.com',
  claims: 'project_id=22\n\n ref=a,b \n',
};

async function send(fields: Fields) {
  return visitor.post('/trust', fields);
}

test('a trust rule is added as entered and removed again, and both changes are audited', async () => {
  const response = await send({ ...right, reach: 'some', workspace: [game] });
  expect(response.status, response.text).toBe(303);
  const [rule, ...more] = await listTrustRules(service.storage);
  expect(more).toEqual([]);
  expect(rule).toMatchObject({
    claims: { repository_id: '123', repository_owner_id: '45', ref: 'refs/heads/main' },
    workflow: '.github/workflows/release.yml',
    repository: 'octo/game',
    owner: 'release-bot',
    scopes: ['sync', 'locks:write'],
    workspaces: [game],
  });
  expect(response.headers.get('location')).toBe(`/trust?added=${rule?.id}`);
  const shown = (await visitor.get(`/trust?added=${rule?.id}`)).text;
  expect(shown).toContain('Jobs of octo/game are trusted now.');
  for (const text of ['repository_id=123', 'workflow=.github/workflows/release.yml', 'locks:write', game])
    expect(shown).toContain(text);
  expect(shown).not.toContain('on every branch');
  // The service of this test has no public URL.
  expect(shown).toContain('Token exchange is disabled');

  const { text } = await visitor.get(`/trust/${rule?.id}/remove`);
  expect(text).toContain('their current tokens are revoked');
  expect((await visitor.post(`/trust/${rule?.id}/remove`)).headers.get('location')).toBe('/trust?notice=rule-removed');
  expect(await listTrustRules(service.storage)).toEqual([]);
  const { entries } = await readAudit(service.storage, { limit: 2 });
  const detail = { rule: rule?.id, repository: 'octo/game', owner: 'release-bot' };
  expect(entries).toMatchObject([
    { actor: 'root', action: 'trust.removed', detail },
    { actor: 'root', action: 'trust.added', detail },
  ]);
  expect((await visitor.get(`/trust/${rule?.id}/remove`)).status).toBe(404);
});

test('claims of other issuers are read line by line, and the page warns if a rule applies to every branch', async () => {
  const { headers } = await send(gitlab);
  const [rule] = await listTrustRules(service.storage);
  expect(rule).toMatchObject({
    issuer: 'https://gitlab.com',
    claims: { project_id: '22', ref: 'a,b' },
    workspaces: null,
  });
  await visitor.post(`/trust/${rule?.id}/remove`);
  expect(headers.get('location')).toBe(`/trust?added=${rule?.id}`);
  const open = (await send({ ...right, ref: '' })).headers.get('location') ?? '';
  expect((await visitor.get(open)).text).toContain('Every branch of the repository can use this rule');
  expect((await visitor.get('/trust')).text).not.toContain('Every branch of the repository');
});

test('a rule for custom properties is read line by line, shown with its claims, and needs the id of the owner', async () => {
  const assets = {
    ...right,
    owner: 'asset-bot',
    repository: '',
    repositoryId: '',
    properties: ' asset-repo=true\n\nteam=art\n',
  };
  const { headers } = await send(assets);
  const rule = (await listTrustRules(service.storage)).at(-1);
  expect(rule).toMatchObject({
    owner: 'asset-bot',
    claims: { repository_owner_id: '45', 'repo_property_asset-repo': 'true', repo_property_team: 'art' },
  });
  const shown = (await visitor.get(headers.get('location') ?? '')).text;
  for (const text of ['repo_property_asset-repo=true', 'repo_property_team=art', 'repository_owner_id=45'])
    expect(shown).toContain(text);
  await visitor.post(`/trust/${rule?.id}/remove`);
  const refused = await send({ ...assets, repositoryOwnerId: '' });
  expect(refused.status).toBe(422);
  expect(refused.text).toContain('A rule for a custom property needs the id of the owner of the repositories');
  expect(refused.text).toContain('asset-repo=true');
});

test('an existing rule is not added again, and the response links to it', async () => {
  await send({ ...right, owner: 'twice' });
  const before = await listTrustRules(service.storage);
  const response = await send({ ...right, owner: 'twice' });
  expect(response.status).toBe(409);
  expect(response.text).toContain(`The same rule already exists: <a href="/trust#${before.at(-1)?.id}">`);
  expect(response.text).toContain('value="twice"');
  expect(await listTrustRules(service.storage)).toEqual(before);
});

describe('an invalid trust rule', () => {
  test.each<readonly [field: string, change: Fields, reason: string]>([
    ['repositoryId', { repositoryId: '' }, 'A rule for GitHub needs the ids of the repository and of its owner'],
    ['repositoryId', { repositoryId: 'octo' }, 'It must be a number.'],
    ['ref', { ref: 'main' }, 'Write refs/heads/main for a branch'],
    ['workflow', { workflow: 'release.yml' }, 'It must be the file in its repository'],
    ['repository', { repository: 'game' }, 'It must be the name of a repository'],
    ['event', { event: 'Push' }, 'It must be the name of an event'],
    ['owner', { owner: ' ' }, 'Enter the owner of the locks of these jobs.'],
    ['scopes', { scope: [] }, 'Choose at least one scope.'],
    ['scopes', { scope: ['admin'] }, 'Jobs cannot get the scope admin'],
    ['workspaces', { reach: 'some' }, 'Choose at least one workspace, or all.'],
    ['issuer', { issuer: 'gitlab.com' }, 'It must be a URL such as https://gitlab.com.'],
    ['claims', { claims: 'actor_id=7\nactor' }, 'Line 2: It must be a name and a value'],
    ['properties', { properties: 'asset-repo=true\nteam' }, 'Line 2: It must be a name and a value'],
    ['properties', { ...gitlab, properties: 'asset-repo=true' }, 'https://gitlab.com is not GitHub'],
    ['claims', { claims: 'sub=repo:octo/game' }, 'The claim sub of GitHub cannot be matched'],
    ['ref', { ...gitlab, ref: 'refs/heads/main' }, 'https://gitlab.com is not GitHub'],
  ])('is rejected with an error at the field %s: %o', async (field, change, reason) => {
    const before = await listTrustRules(service.storage);
    const { status, text } = await send({ ...right, environment: 'kept <b>', ...change });
    expect(status).toBe(422);
    const [, said] = new RegExp(`id="${field}-problem" role="alert">(.*?)</p>`, 's').exec(text) ?? [];
    expect(said).toContain(reason);
    expect(text).toContain(`<a href="#${field}">`);
    expect(await listTrustRules(service.storage)).toEqual(before);
  });

  test('is rejected with all errors at once, and without injected markup', async () => {
    for (const hostile of hostileTexts) {
      const texts = Object.fromEntries(Object.keys(right).map((name) => [name, hostile]));
      const { status, text } = await send({ ...texts, reach: 'all', scope: ['sync'] });
      expect(status).toBe(422);
      expect(text).not.toContain('<script>alert');
      // A text area keeps the entered text, as other fields do.
      expectHarmless(text.replace(/<textarea.*?<\/textarea>/gs, ''));
      expect(text.match(/role="alert"/g)?.length).toBeGreaterThan(5);
    }
  });
});

test('an unknown rule is not found, however its id is spelled', async () => {
  for (const id of ['trust_x', `trust_${'0'.repeat(36)}`, '%00', encodeURIComponent('<script>')]) {
    expect((await visitor.get(`/trust/${id}/remove`)).status).toBe(404);
  }
});
