import { asObject, type JsonObject, parseJson } from '../../client/json.ts';
import { githubIssuer, isGitHub } from '../../interface/github-issuer.ts';
import { shellWord } from '../../interface/shell-word.ts';

/**
 * A command that trusts exactly such jobs. The operator of the service fills in the owner of the locks and the scopes.
 */
export const trustCommand = (claims: JsonObject): string =>
  ['workspace-service trust add --owner OWNER --scopes SCOPES', ...optionsOf(claims).map(shellWord)].join(' ');

/** The claims of a JSON Web Token (RFC 7519, section 3); none if it cannot be read. */
export function claimsIn(token: string): JsonObject {
  const claims = parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  return claims.ok ? asObject(claims.value) : {};
}

function optionsOf(claims: JsonObject): readonly string[] {
  // A rule compares texts.
  const claim = (name: string): string | undefined => {
    const value = claims[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const issuer = claim('iss') ?? githubIssuer;
  const ofGitHub = isGitHub(issuer);
  const ref = claim('ref');
  const event = claim('event_name');
  const narrowing: readonly (readonly [flag: string, name: string, value: string | undefined])[] = [
    ['--repository-id', 'repository_id', claim('repository_id')],
    ['--repository-owner-id', 'repository_owner_id', claim('repository_owner_id')],
    // The ref of a pull request is never reused.
    ['--ref', 'ref', ref !== undefined && /^refs\/(heads|tags)\//.test(ref) ? ref : undefined],
    ['--event', 'event_name', isOfPullRequest(event) ? event : undefined],
  ];
  return [
    ...option('--issuer', issuer === githubIssuer ? undefined : issuer),
    ...option('--repository', claim('repository')),
    ...narrowing.flatMap(([flag, name, value]) =>
      ofGitHub ? option(flag, value) : option('--claim', value && `${name}=${value}`),
    ),
    ...(ofGitHub ? option('--workflow', workflowOf(claim('workflow_ref'), claim('repository'))) : []),
  ];
}

const option = (flag: string, value: string | undefined): readonly string[] =>
  value === undefined ? [] : [flag, value];

/** A rule trusts pull requests only if it names the event: pull_request, pull_request_target and others. */
const isOfPullRequest = (event: string | undefined): boolean => event?.startsWith('pull_request') === true;

/**
 * Parses `octo/game/.github/workflows/release.yml@refs/heads/main`. Rules cover only workflows of the same repository.
 */
function workflowOf(workflowRef = '', repository = ''): string | undefined {
  const [file = ''] = workflowRef.split('@');
  const path = file.startsWith(`${repository}/`) ? file.slice(repository.length + 1) : '';
  return /^\.github\/workflows\/[^/]+\.ya?ml$/.test(path) ? path : undefined;
}
