import { describe, expect, test } from 'vitest';
import { githubIssuer, parseClaim, parseIssuer, ruleProblems } from '../../../src/service/trust/new-rule.ts';

const enterprise = 'https://git.example.com/_services/token';

describe('a field of a trust rule', () => {
  const separated = (text: string) => text.split('|').map((each) => each.replaceAll(/^\n *|\n *$/g, ''));
  const [a, b] = ['a'.repeat(101), 'b'.repeat(501)];

  test.each([
    [
      'issuer',
      parseIssuer,
      `https://gitlab.com|https://id.example.com/|http://127.0.0.1:8080|https://[::1]/a|${githubIssuer}|${enterprise}`,
      `| https://gitlab.com|gitlab.com|ftp://gitlab.com|https://|https://GitLab.com|https://gitlab.com:443|
        https://a:b@gitlab.com|https://a@gitlab.com|https://:b@gitlab.com|https://gitlab.com?x|https://gitlab.com/?|
        https://gitlab.com/#|https://gitlab.com/a/../b`,
    ],
    [
      'claim',
      parseClaim,
      'repo_property_Team$#_1=art & sound|environment=größe (EU)|project_id=22|query=a=b|sub=a:b|constructor=x',
      `|a b=c|a= b|a=b |a=\u0000|a=b\u200bc|a=\ud800|${a}=b|a=${b}|project_id|project_id=|=22|
        __proto__=x|aud=x|iss=x|exp=1|jti=x`,
    ],
  ])('%s accepts valid values and rejects others', (_, parse, good, bad) => {
    for (const text of separated(good)) expect(parse(text), text).toMatchObject({ ok: true });
    for (const text of separated(bad))
      expect(parse(text), text).toMatchObject({ ok: false, reason: expect.stringMatching(/^[A-Z].*[^ ]$/) });
  });

  test('claim is a name and a value, and the value may contain =', () => {
    expect(parseClaim('query=a=b')).toEqual({ ok: true, value: ['query', 'a=b'] });
  });
});

const owner = ['repository_owner_id', '45'] as const;
const property = ['repo_property_asset-repo', 'true'] as const;

type EnteredRule = Parameters<typeof ruleProblems>[0];

const github: EnteredRule = {
  issuer: githubIssuer,
  claim: [['repository_id', '123'], owner],
  scopes: ['sync'],
};
/** All repositories of an owner that have a custom property. */
const assets: EnteredRule = { ...github, claim: [owner, property] };
const gitlab: EnteredRule = { ...github, issuer: 'https://gitlab.com', claim: [['project_id', '22']] };

describe('a trust rule', () => {
  test('may name a custom property in place of the id of a repository', () => {
    expect(ruleProblems(assets)).toEqual([]);
  });

  test.each([enterprise, `${githubIssuer}/octo-enterprise`, 'https://token.actions.octo.ghe.com'])(
    'needs the ids of GitHub for %s',
    (issuer) => {
      expect(ruleProblems({ ...github, issuer })).toEqual([]);
      expect(ruleProblems({ ...github, issuer, claim: [owner] })).toHaveLength(1);
    },
  );

  const withClaim = (name: string, value: string) => ({ ...github, claim: [...github.claim, [name, value] as const] });

  test.each<readonly [typed: EnteredRule, flag: 'claim' | 'scopes', reason: string]>([
    [{ ...github, claim: [owner] }, 'claim', 'gh api repos/OWNER/NAME --jq'],
    [{ ...github, claim: [['repository_id', '123']] }, 'claim', 'gh api repos/OWNER/NAME --jq'],
    [{ ...github, claim: [] }, 'claim', 'gh api repos/OWNER/NAME --jq'],
    [{ ...github, claim: [property] }, 'claim', 'gh api users/OWNER --jq .id'],
    [{ ...github, issuer: enterprise, claim: [property] }, 'claim', 'the id of the owner'],
    [withClaim('repository_id', '7'), 'claim', 'repository_id is named twice'],
    [{ ...github, claim: [['repository_id', 'octo'], owner] }, 'claim', 'The value of repository_id must be a number.'],
    [{ ...github, claim: [['repository_id', '01'], owner] }, 'claim', 'The value of repository_id must be a number.'],
    [withClaim('ref', 'main'), 'claim', 'The value of ref must be like refs/heads/main'],
    [withClaim('ref', 'refs/heads/*'), 'claim', 'Patterns are not supported'],
    [withClaim('sub', 'repo:octo/game:ref:refs/heads/main'), 'claim', 'The claim sub of GitHub cannot be matched'],
    [withClaim('repository', 'octo/game'), 'claim', 'names can be reassigned'],
    [{ ...github, scopes: ['sync', 'admin'] }, 'scopes', 'Jobs cannot get the scope admin'],
    [{ ...gitlab, claim: [] }, 'claim', 'a rule without claims would trust every job'],
    [{ ...gitlab, claim: [['ref', 'main']] }, 'claim', 'must require the claim project_id or namespace_id'],
    [
      { ...gitlab, issuer: 'https://agent.buildkite.com' },
      'claim',
      'must require the claim pipeline_id or organization_id',
    ],
  ])('is rejected with an error about the flag: %j', (typed, flag, reason) => {
    expect(ruleProblems(typed)).toEqual([expect.stringContaining(`--${flag}: `)]);
    expect(ruleProblems(typed).join()).toContain(reason);
  });

  test('may name any claim of a custom issuer, including sub', () => {
    expect(ruleProblems({ ...gitlab, issuer: 'https://k8s.example.com', claim: [['sub', 'a']] })).toEqual([]);
  });
});
