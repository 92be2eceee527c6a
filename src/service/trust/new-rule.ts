import { githubIssuer, isGitHub } from '../../interface/github-issuer.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { Scope } from '../../interface/scopes.ts';
import type { Field } from '../contract/field.ts';
import { parseTokenOwner } from '../tokens/new-token.ts';
import { hasProperty, missingIdClaim } from './issuers.ts';
import { parseClaim, parseClaimValue, parseProperty, type RuleClaim } from './rule-claim.ts';

const maxIssuerLength = 300;

/** Plain http works only in networks that the operator allows. That is checked when the keys are fetched. */
export function parseIssuer(text: string): Parsed<string> {
  if (text.length > maxIssuerLength) return refused(`An issuer has at most ${maxIssuerLength} characters.`);
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null) return refused('It must be a URL such as https://gitlab.com.');
  if (url.username !== '' || url.password !== '') return refused('It must not have a user name or a password.');
  if (/[?#]/.test(text)) return refused('It must not have a query or a fragment.');
  const normalized = text.endsWith('/') ? url.href : url.href.replace(/\/$/, '');
  return text === normalized ? accepted(text) : refused(`It must match exactly. Write it as ${normalized}`);
}

/** Required: unlike a token, a rule has no name that could be the default. */
export const parseRuleOwner = (text: string): Parsed<string> =>
  text.trim() === '' ? refused('Enter the owner of the locks of these jobs.') : parseTokenOwner(text);

export function parseRef(text: string): Parsed<string> {
  if (!/^refs\/(heads|tags|pull)\/./.test(text))
    return refused('Write refs/heads/main for a branch, or refs/tags/v1.0 for a tag.');
  return /[*?[]/.test(text) ? refused('It must match exactly: patterns are not supported.') : parseClaimValue(text);
}

export function parseWorkflow(text: string): Parsed<string> {
  return /^\.github\/workflows\/[^/]+\.ya?ml$/.test(text)
    ? parseClaimValue(text)
    : refused('It must be the file in its repository, such as .github/workflows/release.yml.');
}

const maxRepositoryLength = 200;

/** For people only. More than one slash is allowed, because GitLab has nested groups. */
export const parseRepository = (text: string): Parsed<string> =>
  text.length <= maxRepositoryLength && /^[\w.-]+(?:\/[\w.-]+)+$/.test(text)
    ? accepted(text)
    : refused('It must be the name of a repository, such as octo/game.');

export const parseGitHubId = (text: string): Parsed<string> =>
  /^[1-9]\d{0,18}$/.test(text)
    ? accepted(text)
    : refused("It must be a number. Find it with: gh api repos/OWNER/NAME --jq '.id, .owner.id'");

export const parseEvent = (text: string): Parsed<string> =>
  /^[a-z_]{1,64}$/.test(text) ? accepted(text) : refused('It must be the name of an event, such as push.');

/** The fields of a rule that are entered as text, in the order of the form. */
export const ruleFields = {
  repository: {
    title: 'Repository',
    placeholder: 'NAME',
    hint: 'its name, such as octo/game: for people to read, never matched',
    otherwise: 'default none',
    parse: parseRepository,
  },
  repositoryId: {
    title: 'Repository id',
    placeholder: 'ID',
    hint: 'the id of the repository on GitHub',
    otherwise: 'required for GitHub without a property',
    parse: parseGitHubId,
  },
  repositoryOwnerId: {
    title: 'Owner id',
    placeholder: 'ID',
    hint: 'the id of its owner on GitHub',
    otherwise: 'required for GitHub',
    parse: parseGitHubId,
  },
  ref: {
    title: 'Ref',
    placeholder: 'REF',
    hint: 'only jobs on this ref, such as refs/heads/main',
    otherwise: 'default any',
    parse: parseRef,
  },
  environment: {
    title: 'Environment',
    placeholder: 'NAME',
    hint: 'only jobs with this environment',
    otherwise: 'default any',
    parse: parseClaimValue,
  },
  workflow: {
    title: 'Workflow',
    placeholder: 'FILE',
    hint: 'only this workflow of the repository, such as .github/workflows/release.yml',
    otherwise: 'default any',
    parse: parseWorkflow,
  },
  event: {
    title: 'Event',
    placeholder: 'EVENT',
    hint: 'only jobs triggered by this event',
    otherwise: 'default any except pull requests',
    parse: parseEvent,
  },
  owner: {
    title: 'Owner of the locks',
    placeholder: 'OWNER',
    hint: 'the owner of the locks of these jobs; case counts',
    otherwise: 'required',
    parse: parseRuleOwner,
  },
  issuer: {
    title: 'Issuer',
    placeholder: 'URL',
    hint: 'the OIDC issuer (iss) of the jobs',
    otherwise: `default ${githubIssuer}`,
    parse: parseIssuer,
  },
} satisfies Readonly<Record<string, Field<string>>>;

/** The fields of a rule that can be given several times. */
export const repeatedRuleFields = {
  properties: {
    title: 'Custom properties',
    placeholder: 'NAME=VALUE',
    hint: 'only repositories with this custom property on GitHub, such as asset-repo=true',
    otherwise: 'default any',
    parse: parseProperty,
  },
  claims: {
    title: 'Claims',
    placeholder: 'NAME=VALUE',
    hint: 'require this claim with exactly this value',
    otherwise: 'default none',
    parse: parseClaim,
  },
} satisfies Readonly<Record<string, Field<RuleClaim>>>;

/** A rule as entered. Each field has been validated on its own. */
export type EnteredRule = {
  readonly [field in Exclude<keyof typeof ruleFields, 'owner' | 'issuer'>]?: string | undefined;
} & {
  readonly owner: string;
  readonly issuer: string;
  /** As claims. */
  readonly properties: readonly RuleClaim[];
  readonly claims: readonly RuleClaim[];
  readonly scopes: readonly Scope[];
  /** Empty for all. */
  readonly workspaces: readonly string[];
};

/** The fields for claims of GitHub, in the order in which rules list them. */
const fieldsOfGitHub = [
  ['repositoryId', 'repository_id'],
  ['repositoryOwnerId', 'repository_owner_id'],
  ['ref', 'ref'],
  ['environment', 'environment'],
  ['event', 'event_name'],
] as const;

export type RuleErrors = { readonly [field in keyof EnteredRule]?: string };

/** Validates the fields in combination. */
export function readRule(entered: EnteredRule) {
  const { issuer, owner, workflow = null, repository = null } = entered;
  const ofFields = fieldsOfGitHub.flatMap(([field, claim]): RuleClaim[] => {
    const value = entered[field];
    return value === undefined ? [] : [[claim, value]];
  });
  const claims = [...ofFields, ...entered.properties, ...entered.claims];
  const errors = errorsOf(entered, claims);
  if (Object.keys(errors).length > 0) return { ok: false, errors } as const;
  const workspaces = entered.workspaces.length === 0 ? null : [...new Set(entered.workspaces)];
  const scopes = [...new Set(entered.scopes)];
  const rule = { issuer, owner, claims: Object.fromEntries(claims), workflow, repository, scopes, workspaces };
  return { ok: true, value: rule } as const;
}

const maxWorkspaces = 100;

function errorsOf(entered: EnteredRule, claims: readonly RuleClaim[]): RuleErrors {
  const { issuer, scopes, workspaces } = entered;
  const errors: { -readonly [field in keyof EnteredRule]?: string } = {};
  if (!isGitHub(issuer)) {
    for (const [field] of [...fieldsOfGitHub, ['workflow'] as const]) {
      if (entered[field] !== undefined) errors[field] = notGitHub(issuer);
    }
    if (entered.properties.length > 0) errors.properties = notGitHub(issuer);
  }
  const wrong = wrongClaim(issuer, claims);
  const byName = Object.fromEntries(claims);
  const missingId = missingIdClaim(issuer, byName);
  const idField = hasProperty(byName) ? 'repositoryOwnerId' : 'repositoryId';
  const pairField = entered.claims.length === 0 && entered.properties.length > 0 ? 'properties' : 'claims';
  if (wrong !== undefined) errors[pairField] = wrong;
  else if (missingId !== undefined) errors[isGitHub(issuer) ? idField : 'claims'] = missingId;
  if (scopes.includes('admin')) {
    errors.scopes =
      'Jobs cannot get the scope admin, because they could create permanent tokens. Choose the scopes that they need.';
  }
  if (workspaces.length > maxWorkspaces) errors.workspaces = `A rule names at most ${maxWorkspaces} workspaces.`;
  return errors;
}

const notGitHub = (issuer: string): string => `${issuer} is not GitHub: name its claims one by one instead.`;

export const maxClaims = 20;

/** Names, which others can take over, and `sub`, whose format has changed. */
const neverMatched = ['sub', 'repository', 'repository_owner'];

function wrongClaim(issuer: string, claims: readonly RuleClaim[]): string | undefined {
  if (claims.length > maxClaims) return `A rule names at most ${maxClaims} claims.`;
  const [duplicate] = claims.map(([name]) => name).filter((name, index, names) => names.indexOf(name) !== index);
  if (duplicate !== undefined) return `The claim ${duplicate} is named twice.`;
  if (!isGitHub(issuer)) {
    return claims.length === 0
      ? 'Name at least one claim, such as project_id=42: a rule without claims would trust every job of the issuer.'
      : undefined;
  }
  const name = claims.map(([name]) => name).find((name) => neverMatched.includes(name));
  if (name !== undefined)
    return `The claim ${name} of GitHub cannot be matched, because names can be reassigned. Use ids instead.`;
  for (const [field, claim] of fieldsOfGitHub) {
    const value = claims.find(([name]) => name === claim)?.[1];
    const parsed = value === undefined ? undefined : ruleFields[field].parse(value);
    if (parsed?.ok === false) return `The value of ${claim} cannot be used. ${parsed.reason}`;
  }
  return undefined;
}
