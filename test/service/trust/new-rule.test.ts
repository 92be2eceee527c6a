import { describe, expect, test } from 'vitest';
import { githubIssuer } from '../../../src/interface/github-issuer.ts';
import type { Parsed } from '../../../src/interface/parsed.ts';
import {
  type EnteredRule,
  maxClaims,
  parseEvent,
  parseGitHubId,
  parseIssuer,
  parseRef,
  parseRepository,
  parseWorkflow,
  readRule,
} from '../../../src/service/trust/new-rule.ts';
import { parseClaim, parseClaimValue, parseProperty } from '../../../src/service/trust/rule-claim.ts';

const enterprise = 'https://git.example.com/_services/token';

describe('a field of a trust rule', () => {
  const parsers: Readonly<
    Record<string, readonly [parse: (text: string) => Parsed<unknown>, good: readonly string[], bad: readonly string[]]>
  > = {
    issuer: [
      parseIssuer,
      [
        githubIssuer,
        enterprise,
        'https://gitlab.com',
        'https://id.example.com/',
        'http://127.0.0.1:8080',
        'https://[::1]/a',
      ],
      [
        '',
        'gitlab.com',
        'ftp://gitlab.com',
        'https://',
        'https://GitLab.com',
        'https://gitlab.com:443',
        ' https://gitlab.com',
        'https://a:b@gitlab.com',
        'https://a@gitlab.com',
        'https://:b@gitlab.com',
        'https://gitlab.com?x',
        'https://gitlab.com/?',
        'https://gitlab.com/#',
        'https://gitlab.com/a/../b',
        `https://gitlab.com/${'a'.repeat(300)}`,
      ],
    ],
    id: [parseGitHubId, ['1', '1658821493'], ['', '0', '01', '-1', '1.5', '1e3', ' 1', 'octo', '١', '9'.repeat(20)]],
    ref: [
      parseRef,
      ['refs/heads/main', 'refs/heads/release/1.2', 'refs/tags/v1.0', 'refs/pull/7/merge'],
      ['', 'main', 'heads/main', 'refs/heads/', 'refs/heads/*', 'refs/tags/v?', 'refs/heads/a\nb', 'refs/heads/main '],
    ],
    workflow: [
      parseWorkflow,
      ['.github/workflows/release.yml', '.github/workflows/Lock it.yaml'],
      [
        'release.yml',
        '.github/workflows/',
        '.github/workflows/a/b.yml',
        '.github/workflows/a.yml@refs/heads/main',
        'octo/game/.github/workflows/a.yml',
      ],
    ],
    event: [parseEvent, ['push', 'pull_request_target'], ['', 'Push', 'push release', '*']],
    repository: [
      parseRepository,
      ['octo/game', 'group/sub/game.art'],
      ['game', 'octo/', '/game', 'octo/ga me', 'https://github.com/octo/game', `octo/${'a'.repeat(200)}`],
    ],
    environment: [
      parseClaimValue,
      ['production', 'Production (EU)', 'größe'],
      ['', ' a', 'a ', 'a\u0000', 'a\u200bb', '\ud800', 'a'.repeat(501)],
    ],
    claim: [
      parseClaim,
      [
        'project_id=22',
        'oidc.circleci.com/project-id=a-b',
        'query=a=b',
        'sub=system:serviceaccount:a:b',
        'constructor=x',
      ],
      [
        '',
        'project_id',
        'project_id=',
        '=22',
        '__proto__=x',
        'a b=c',
        `${'a'.repeat(101)}=b`,
        'aud=x',
        'iss=x',
        'exp=1',
        'jti=x',
      ],
    ],
    property: [
      parseProperty,
      ['asset-repo=true', 'Team$#_1=art & sound', 'regions=us-east-1,eu-west-1', '__proto__=x', `${'a'.repeat(75)}=b`],
      [
        '',
        'asset-repo',
        'asset-repo=',
        '=true',
        'asset repo=true',
        'asset.repo=true',
        'größe=true',
        'asset-repo= true',
        'asset-repo="true"',
        'asset-repo=größe',
        'asset-repo=a\nb',
        `${'a'.repeat(76)}=b`,
      ],
    ],
  };

  test.each(Object.entries(parsers))('%s accepts valid values and rejects others', (_, [parse, good, bad]) => {
    for (const text of good) expect(parse(text), text).toMatchObject({ ok: true });
    for (const text of bad)
      expect(parse(text), text).toMatchObject({ ok: false, reason: expect.stringMatching(/^[A-Z].*[^ ]$/) });
  });

  test('claim is a name and a value, and the value may contain =', () => {
    expect(parseClaim('query=a=b')).toEqual({ ok: true, value: ['query', 'a=b'] });
  });

  test('property is the claim that GitHub makes of it', () => {
    expect(parseProperty('asset-repo=true')).toEqual({ ok: true, value: ['repo_property_asset-repo', 'true'] });
  });
});

const github: EnteredRule = {
  issuer: githubIssuer,
  repositoryId: '123',
  repositoryOwnerId: '45',
  properties: [],
  claims: [],
  owner: 'release-bot',
  scopes: ['sync'],
  workspaces: [],
};
/** All repositories of an owner that have a custom property. */
const assets: EnteredRule = { ...github, repositoryId: undefined, properties: [['repo_property_asset-repo', 'true']] };
const gitlab: EnteredRule = {
  issuer: 'https://gitlab.com',
  properties: [],
  claims: [['project_id', '22']],
  owner: 'release-bot',
  scopes: ['sync'],
  workspaces: [],
};

describe('a trust rule', () => {
  test('has the claims of its fields, and null for omitted fields', () => {
    const full = {
      ...github,
      ref: 'refs/heads/main',
      environment: 'production',
      event: 'push',
      workspaces: ['a', 'a'],
    };
    expect(readRule({ ...full, claims: [['actor_id', '7']], scopes: ['sync', 'sync'] })).toEqual({
      ok: true,
      value: {
        issuer: githubIssuer,
        owner: 'release-bot',
        claims: {
          repository_id: '123',
          repository_owner_id: '45',
          ref: 'refs/heads/main',
          environment: 'production',
          event_name: 'push',
          actor_id: '7',
        },
        workflow: null,
        repository: null,
        scopes: ['sync'],
        workspaces: ['a'],
      },
    });
    expect(readRule(gitlab)).toMatchObject({ ok: true, value: { claims: { project_id: '22' }, workspaces: null } });
  });

  test('may name a custom property in place of the id of a repository', () => {
    const claims = { repository_owner_id: '45', 'repo_property_asset-repo': 'true' };
    expect(readRule(assets)).toMatchObject({ ok: true, value: { claims } });
    expect(readRule({ ...assets, properties: [], claims: assets.properties })).toMatchObject({
      ok: true,
      value: { claims },
    });
    expect(readRule({ ...assets, repositoryId: '123' })).toMatchObject({
      ok: true,
      value: { claims: { ...claims, repository_id: '123' } },
    });
  });

  test.each<readonly [change: Partial<EnteredRule>, claims: readonly (readonly [string, string])[]]>([
    [{ issuer: enterprise }, []],
    [{ issuer: `${githubIssuer}/octo-enterprise` }, []],
    [{ issuer: 'https://token.actions.octo.ghe.com' }, []],
    [
      { issuer: enterprise, repositoryId: undefined, repositoryOwnerId: undefined },
      [
        ['repository_id', '1'],
        ['repository_owner_id', '2'],
      ],
    ],
  ])('has the fields of GitHub for each kind of GitHub issuer: %j', (change, claims) => {
    expect(readRule({ ...github, ...change, claims })).toMatchObject({ ok: true });
  });

  test.each<readonly [typed: EnteredRule, field: keyof EnteredRule, reason: string]>([
    [{ ...github, repositoryId: undefined }, 'repositoryId', 'gh api repos/OWNER/NAME --jq'],
    [{ ...github, repositoryOwnerId: undefined }, 'repositoryId', 'gh api repos/OWNER/NAME --jq'],
    [{ ...github, issuer: enterprise, repositoryId: undefined }, 'repositoryId', 'gh api repos/OWNER/NAME --jq'],
    [{ ...assets, repositoryOwnerId: undefined }, 'repositoryOwnerId', 'gh api users/OWNER --jq .id'],
    [{ ...assets, issuer: enterprise, repositoryOwnerId: undefined }, 'repositoryOwnerId', 'the id of the owner'],
    [{ ...assets, repositoryId: '123', repositoryOwnerId: undefined }, 'repositoryOwnerId', 'the id of the owner'],
    [
      { ...assets, properties: [], claims: assets.properties, repositoryOwnerId: undefined },
      'repositoryOwnerId',
      'the id of the owner',
    ],
    [{ ...assets, properties: [['repo_prop_asset-repo', 'true']] }, 'repositoryId', 'the ids of the repository and'],
    [
      { ...assets, properties: [...assets.properties, ...assets.properties] },
      'properties',
      'The claim repo_property_asset-repo is named twice.',
    ],
    [{ ...gitlab, properties: assets.properties }, 'properties', 'https://gitlab.com is not GitHub'],
    [{ ...github, claims: [['repository_id', '7']] }, 'claims', 'repository_id is named twice'],
    [
      { ...github, repositoryId: undefined, claims: [['repository_id', 'octo']] },
      'claims',
      'The value of repository_id cannot be used.',
    ],
    [{ ...github, claims: [['ref', 'main']] }, 'claims', 'The value of ref cannot be used. Write refs/heads/main'],
    [
      { ...github, claims: [['sub', 'repo:octo/game:ref:refs/heads/main']] },
      'claims',
      'The claim sub of GitHub cannot be matched',
    ],
    [{ ...github, claims: [['repository', 'octo/game']] }, 'claims', 'names can be reassigned'],
    [
      { ...github, claims: Array.from({ length: maxClaims }, (_, index) => [`c${index}`, 'x'] as const) },
      'claims',
      'at most 20 claims',
    ],
    [{ ...github, scopes: ['sync', 'admin'] }, 'scopes', 'Jobs cannot get the scope admin'],
    [
      { ...github, workspaces: Array.from({ length: 101 }, (_, index) => `w${index}`) },
      'workspaces',
      'at most 100 workspaces',
    ],
    [{ ...gitlab, claims: [] }, 'claims', 'a rule without claims would trust every job'],
    [{ ...gitlab, claims: [['ref', 'main']] }, 'claims', 'must require the claim project_id or namespace_id'],
    [
      { ...gitlab, issuer: 'https://agent.buildkite.com' },
      'claims',
      'must require the claim pipeline_id or organization_id',
    ],
    [{ ...gitlab, ref: 'refs/heads/main' }, 'ref', 'https://gitlab.com is not GitHub'],
    [{ ...gitlab, repositoryId: '7' }, 'repositoryId', 'https://gitlab.com is not GitHub'],
    [{ ...gitlab, workflow: '.github/workflows/a.yml' }, 'workflow', 'https://gitlab.com is not GitHub'],
  ])('is rejected with an error at the invalid field: %j', (typed, field, reason) => {
    const read = readRule(typed);
    if (read.ok) throw new Error('It was accepted.');
    expect(read.errors[field]).toContain(reason);
  });

  test('may name any claim of a custom issuer, including sub', () => {
    expect(readRule({ ...gitlab, issuer: 'https://k8s.example.com', claims: [['sub', 'a']] })).toMatchObject({
      ok: true,
    });
  });
});
