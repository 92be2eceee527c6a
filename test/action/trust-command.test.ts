import { describe, expect, test } from 'vitest';
import { claimsIn, trustCommand } from '../../src/action/step/trust-command.ts';
import { githubIssuer } from '../../src/interface/github-issuer.ts';
import { githubClaims } from '../support/oidc-issuer.ts';

const begins = 'workspace-service trust add --owner OWNER --scopes SCOPES';
const game = '--repository octo/game --repository-id 123 --repository-owner-id 45';
const release = '--workflow .github/workflows/release.yml';
const ofGitHub = { ...githubClaims, iss: githubIssuer };
const enterprise = 'https://github.octo.example/_services/token';

describe('the command that trusts a job', () => {
  test.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['names repository, ref and workflow on github.com', {}, `${game} --ref refs/heads/main ${release}`],
    [
      'also names the issuer on Enterprise Server',
      { iss: enterprise },
      `--issuer ${enterprise} ${game} --ref refs/heads/main ${release}`,
    ],
    [
      'also names the issuer on ghe.com',
      { iss: 'https://token.actions.octo.ghe.com' },
      `--issuer https://token.actions.octo.ghe.com ${game} --ref refs/heads/main ${release}`,
    ],
    [
      'names the event for a pull request',
      { ref: 'refs/pull/7/merge', event_name: 'pull_request' },
      `${game} --event pull_request ${release}`,
    ],
    [
      'names event and ref for pull_request_target',
      { event_name: 'pull_request_target' },
      `${game} --ref refs/heads/main --event pull_request_target ${release}`,
    ],
    [
      'leaves out a workflow of another repository',
      { workflow_ref: 'octo/shared/.github/workflows/release.yml@refs/heads/main' },
      `${game} --ref refs/heads/main`,
    ],
    [
      'names claims one by one for an issuer other than GitHub',
      { iss: 'https://forge.example/api/actions', ref: "refs/heads/a'b" },
      String.raw`--issuer https://forge.example/api/actions --repository octo/game --claim 'repository_id=123' --claim 'repository_owner_id=45' --claim 'ref=refs/heads/a'\''b'`,
    ],
  ])('%s', (_, claims, options) => {
    expect(trustCommand({ ...ofGitHub, ...claims })).toBe(`${begins} ${options}`);
  });
});

test.each([
  ['a token', `x.${Buffer.from('{"iss":"ü"}').toString('base64url')}.y`, { iss: 'ü' }],
  ['a token without JSON', 'x.y.z', {}],
  ['a token whose JSON is not an object', `x.${Buffer.from('7').toString('base64url')}.y`, {}],
  ['no token', '', {}],
])('reads the claims of %s', (_, token, claims) => {
  expect(claimsIn(token)).toEqual(claims);
});
