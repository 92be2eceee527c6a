import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { Scope } from '../contract/scopes.ts';
import { parseTokenOwner } from '../tokens/new-token.ts';

/** Accepts plain http, which works only in networks that the operator allows: checked when the keys are fetched. */
export function parseIssuer(text: string): Parsed<string> {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null) return refused('It must be a URL such as https://gitlab.com.');
  if (url.username !== '' || url.password !== '') return refused('It must not have a user name or a password.');
  if (/[?#]/.test(text)) return refused('It must not have a query or a fragment.');
  const normalized = text.endsWith('/') ? url.href : url.href.replace(/\/$/, '');
  return text === normalized ? accepted(text) : refused(`It must match exactly. Write it as ${normalized}`);
}

/** Required, because unlike a token, a rule has no name to serve as the default. */
export const parseRuleOwner = (text: string): Parsed<string> =>
  text.trim() === '' ? refused('Enter the owner of the locks of these jobs.') : parseTokenOwner(text);

interface EnteredRule {
  readonly issuer: string;
  readonly claim: readonly RuleClaim[];
  readonly scopes: readonly Scope[];
}

/** The problems of combinations of fields, by flag. */
export function ruleProblems({ issuer, claim, scopes }: EnteredRule): readonly string[] {
  const wrong = wrongClaim(issuer, claim) ?? missingIdClaim(issuer, new Set(claim.map(([name]) => name)));
  return [
    ...(wrong === undefined ? [] : [`--claim: ${wrong}`]),
    ...(scopes.includes('admin')
      ? ['--scopes: Jobs cannot get the scope admin, because they could create permanent tokens. Choose the others.']
      : []),
  ];
}

/** Names, which others can take over, and `sub`, whose format has changed. */
const neverMatched = ['sub', 'repository', 'repository_owner'];

function wrongClaim(issuer: string, claims: readonly RuleClaim[]): string | undefined {
  const [duplicate] = claims.map(([name]) => name).filter((name, index, names) => names.indexOf(name) !== index);
  if (duplicate !== undefined) return `The claim ${duplicate} is named twice.`;
  if (claims.length === 0 && !isGitHub(issuer))
    return 'Name at least one claim, such as project_id=42: a rule without claims would trust every job of the issuer.';
  return isGitHub(issuer) ? claims.map(wrongOnGitHub).find((reason) => reason !== undefined) : undefined;
}

function wrongOnGitHub([name, value]: RuleClaim): string | undefined {
  if (neverMatched.includes(name))
    return `The claim ${name} of GitHub cannot be matched, because names can be reassigned. Use ids instead.`;
  if (idsOfGitHub.includes(name) && !/^[1-9]\d{0,18}$/.test(value)) return `The value of ${name} must be a number.`;
  if (name === 'ref' && !/^refs\/(heads|tags|pull)\/[^*?[]+$/.test(value))
    return 'The value of ref must be like refs/heads/main or refs/tags/v1.0. Patterns are not supported.';
  return undefined;
}

type RuleClaim = readonly [name: string, value: string];

const maxClaimNameLength = 100;
const maxClaimValueLength = 500;
const registeredClaims = ['iss', 'aud', 'exp', 'iat', 'nbf', 'jti'];

export function parseClaim(text: string): Parsed<RuleClaim> {
  const [, name = '', value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  if (value === undefined) return refused('It must be a name and a value, such as project_id=42.');
  if (name.length > maxClaimNameLength || !/^[A-Za-z][\w.:/$#-]*$/.test(name)) {
    return refused(
      `The name of a claim begins with a letter and has at most ${maxClaimNameLength} letters, digits or any of _ . : / $ # -.`,
    );
  }
  if (registeredClaims.includes(name)) return refused(`The claim ${name} is always checked: leave it out.`);
  // Values are compared exactly, so an invisible character must be a mistake.
  const isUsable =
    value !== '' && value.length <= maxClaimValueLength && value.trim() === value && !/\p{C}/u.test(value);
  return isUsable
    ? accepted([name, value])
    : refused(
        `The value of ${name} must have 1 to ${maxClaimValueLength} characters, none of them invisible, and no space at its ends.`,
      );
}

/** GitHub never reuses these ids. */
const idsOfGitHub = ['repository_id', 'repository_owner_id'];

/** Issuers that sign tokens for jobs of anyone. Without one of these ids, a rule would trust strangers. */
const sharedIssuers: ReadonlyMap<string, readonly string[]> = new Map([
  ['https://gitlab.com', ['project_id', 'namespace_id']],
  ['https://agent.buildkite.com', ['pipeline_id', 'organization_id']],
]);

/** The claim that a rule lacks to identify the owner of the jobs; undefined if it has one. */
function missingIdClaim(issuer: string, names: ReadonlySet<string>): string | undefined {
  if (isGitHub(issuer)) {
    // A custom property of a repository: https://docs.github.com/en/actions/reference/security/oidc
    if ([...names].some((name) => name.startsWith('repo_property_'))) {
      return names.has('repository_owner_id')
        ? undefined
        : 'A rule for a custom property needs the id of the owner of the repositories, because a name can be reassigned. Find it with: gh api users/OWNER --jq .id';
    }
    return idsOfGitHub.every((name) => names.has(name))
      ? undefined
      : "A rule for GitHub needs the ids of the repository and of its owner, because names can be reassigned. Find them with: gh api repos/OWNER/NAME --jq '.id, .owner.id'";
  }
  const ids = sharedIssuers.get(issuer);
  return ids === undefined || ids.some((name) => names.has(name))
    ? undefined
    : `${issuer} signs for anyone with an account: the rule must require the claim ${ids.join(' or ')}.`;
}

/** The OIDC issuer of github.com: the claim `iss` of its tokens. */
export const githubIssuer = 'https://token.actions.githubusercontent.com';

/**
 * All forms of GitHub: github.com, with a path if an enterprise has its own issuer, ghe.com, and Enterprise Server.
 * Their claims are the same: https://docs.github.com/en/actions/reference/security/oidc
 */
export function isGitHub(issuer: string): boolean {
  const { host = '', pathname = '' } = URL.parse(issuer) ?? {};
  return (
    host === 'token.actions.githubusercontent.com' ||
    /^token\.actions\.[a-z0-9-]+\.ghe\.com$/.test(host) ||
    pathname === '/_services/token'
  );
}
