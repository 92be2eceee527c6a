import { isGitHub } from '../../interface/github-issuer.ts';

/** Claims that identify the owner of a job, and are never reused for another. */
const idsOfGitHub = ['repository_id', 'repository_owner_id'];
const idsOfGitLab = ['project_id', 'namespace_id'];
const idsOfBuildkite = ['pipeline_id', 'organization_id'];

export const idClaims: ReadonlySet<string> = new Set([...idsOfGitHub, ...idsOfGitLab, ...idsOfBuildkite]);

/**
 * Claims of GitHub for the custom properties of a repository. Values are text: a property with several values is their
 * list, separated by commas. https://docs.github.com/en/actions/reference/security/oidc
 */
const propertyPrefix = 'repo_property_';

const hasProperty = (claims: Readonly<Record<string, string>>): boolean =>
  Object.keys(claims).some((name) => name.startsWith(propertyPrefix));

/** Issuers that sign for jobs of anyone: without an id, a rule would trust strangers. */
const sharedIssuers: ReadonlyMap<string, readonly string[]> = new Map([
  ['https://gitlab.com', idsOfGitLab],
  ['https://agent.buildkite.com', idsOfBuildkite],
]);

/** The claim that a rule lacks to identify the owner of the jobs; undefined if it has one. */
export function missingIdClaim(issuer: string, claims: Readonly<Record<string, string>>): string | undefined {
  const has = (name: string) => Object.hasOwn(claims, name);
  if (isGitHub(issuer)) {
    if (hasProperty(claims)) {
      return has('repository_owner_id')
        ? undefined
        : 'A rule for a custom property needs the id of the owner of the repositories, because a name can be reassigned. Find it with: gh api users/OWNER --jq .id';
    }
    return idsOfGitHub.every(has)
      ? undefined
      : "A rule for GitHub needs the ids of the repository and of its owner, because names can be reassigned. Find them with: gh api repos/OWNER/NAME --jq '.id, .owner.id'";
  }
  const ids = sharedIssuers.get(issuer);
  return ids === undefined || ids.some(has)
    ? undefined
    : `${issuer} signs for anyone with an account: the rule must require the claim ${ids.join(' or ')}.`;
}
