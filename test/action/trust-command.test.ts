import { describe, expect, test } from 'vitest';
import { claimsIn, trustCommand } from '../../src/action/step/trust-command.ts';
import { githubIssuer } from '../../src/interface/github-issuer.ts';
import { githubClaims } from '../support/oidc-issuer.ts';

const begins = 'workspace-service trust add --owner OWNER --scopes SCOPES';
const game = `--claim 'repository_id=123' --claim 'repository_owner_id=45'`;
const main = `--claim 'ref=refs/heads/main'`;
const ofGitHub = { ...githubClaims, iss: githubIssuer };
const enterprise = 'https://github.octo.example/_services/token';

describe('the command that trusts a job', () => {
  test.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['names repository and ref on github.com', {}, `${game} ${main}`],
    ['also names the issuer on Enterprise Server', { iss: enterprise }, `--issuer ${enterprise} ${game} ${main}`],
    [
      'also names the issuer on ghe.com',
      { iss: 'https://token.actions.octo.ghe.com' },
      `--issuer https://token.actions.octo.ghe.com ${game} ${main}`,
    ],
    [
      'names the event for a pull request',
      { ref: 'refs/pull/7/merge', event_name: 'pull_request' },
      `${game} --claim 'event_name=pull_request'`,
    ],
    [
      'names event and ref for pull_request_target',
      { event_name: 'pull_request_target' },
      `${game} ${main} --claim 'event_name=pull_request_target'`,
    ],
    [
      'quotes what a shell would read',
      { iss: 'https://forge.example/api/actions', ref: "refs/heads/a'b" },
      String.raw`--issuer https://forge.example/api/actions --claim 'repository_id=123' --claim 'repository_owner_id=45' --claim 'ref=refs/heads/a'\''b'`,
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
