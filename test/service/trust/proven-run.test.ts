import { expect, test } from 'vitest';
import { githubIssuer } from '../../../src/service/trust/new-rule.ts';
import { provenRun } from '../../../src/service/trust/proven-run.ts';
import { githubClaims } from '../../support/oidc-issuer.ts';

const gitlab = { project_path: 'art/film/shots', project_id: '22', pipeline_id: '1212', sub: 'project_path:art/film' };
const buildkite = { organization_slug: 'acme', pipeline_slug: 'game', build_number: 86, sub: 'organization:acme' };
const run = '/octo/game/actions/runs/4711/attempts/1';

test.each([
  [githubIssuer, githubClaims, 'octo/game run 4711', `https://github.com${run}`],
  [`${githubIssuer}/octo-inc`, githubClaims, 'octo/game run 4711', `https://github.com${run}`],
  ['https://token.actions.octo.ghe.com', githubClaims, 'octo/game run 4711', `https://octo.ghe.com${run}`],
  ['https://git.example.com/_services/token', githubClaims, 'octo/game run 4711', `https://git.example.com${run}`],
  ['https://gitlab.com', gitlab, 'art/film/shots pipeline 1212', 'https://gitlab.com/art/film/shots/-/pipelines/1212'],
  ['https://agent.buildkite.com', buildkite, 'acme/game build 86', 'https://buildkite.com/acme/game/builds/86'],
  ['https://issuer.example.com', { sub: 'job\u202e 7' }, 'job  7', null],
  ['https://issuer.example.com', {}, 'a job', null],
  // Values that are not valid in a URL do not become part of one.
  [githubIssuer, { ...githubClaims, repository: 'octo/..' }, githubClaims['sub'], null],
  [githubIssuer, { ...githubClaims, repository: 'octo/game?a' }, githubClaims['sub'], null],
  [githubIssuer, { ...githubClaims, run_id: '../../evil' }, githubClaims['sub'], null],
  [githubIssuer, { ...githubClaims, run_id: { toString: null } }, githubClaims['sub'], null],
  ['https://gitlab.com', { ...gitlab, project_path: 'https://evil.example.com' }, gitlab.sub, null],
  ['https://issuer.example.com', { sub: '😀'.repeat(60) }, '😀'.repeat(50), null],
])('a job of %s with %o is named %s and has the run URL %s', (issuer, claims, name, origin) => {
  expect(provenRun(issuer, claims, 'bot')).toMatchObject({
    name,
    origin,
    id: expect.stringMatching(/^run_[0-9a-f]{32}$/),
  });
});

test('tokens share an id only within one run attempt of one repository, issuer and owner', () => {
  const idOf = (claims: object, owner = 'bot', issuer = githubIssuer) =>
    provenRun(issuer, { ...githubClaims, ...claims }, owner).id;
  expect(idOf({ sha: '0', jti: 'another' })).toBe(idOf({}));
  const changed = [{ run_id: '4712' }, { run_attempt: '2' }, { repository_id: '7' }].map((claims) => idOf(claims));
  expect(new Set([idOf({}), ...changed, idOf({}, 'other'), idOf({}, 'bot', `${githubIssuer}/octo-inc`)]).size).toBe(6);
});

test('tokens of jobs whose long subjects differ only at the end have different ids', () => {
  const [one, other] = ['1', '2'].map(
    (end) => provenRun('https://issuer.example.com', { sub: 'a'.repeat(600) + end }, 'bot').id,
  );
  expect(one).not.toBe(other);
});
