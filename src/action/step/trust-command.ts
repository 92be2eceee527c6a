import { asObject, type JsonObject, parseJson } from '../../client/json.ts';
import { githubIssuer } from '../../interface/github-issuer.ts';
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
  const [ref, event] = [claim('ref'), claim('event_name')];
  const named = Object.entries({
    repository_id: claim('repository_id'),
    repository_owner_id: claim('repository_owner_id'),
    // The ref of a pull request is never reused.
    ref: ref !== undefined && /^refs\/(heads|tags)\//.test(ref) ? ref : undefined,
    // A rule trusts pull requests only if it names the event: pull_request, pull_request_target and others.
    event_name: event?.startsWith('pull_request') ? event : undefined,
  });
  return [
    ...(issuer === githubIssuer ? [] : ['--issuer', issuer]),
    ...named.flatMap(([name, value]) => (value === undefined ? [] : ['--claim', `${name}=${value}`])),
  ];
}
