import { isGitHub } from './new-rule.ts';
import { hashOf } from './verify-identity.ts';

interface ProvenRun {
  /** Shared by all tokens that the jobs of a run get for an owner. */
  readonly id: string;
  readonly name: string;
  /** Run URL; null if the claims are not sufficient for it. */
  readonly origin: string | null;
  /** The claims that the other fields are derived from. */
  readonly claims: Readonly<Record<string, string>>;
}

type Claims = Readonly<Record<string, unknown>>;

/** The same limit as for names of tokens. */
const maxNameLength = 100;

/** The claims must come from an identity token that matches a rule. */
export function provenRun(issuer: string, claims: Claims, owner: string): ProvenRun {
  const run =
    (isGitHub(issuer) ? runOfGitHub(issuer, claims) : undefined) ??
    runOfGitLab(issuer, claims) ??
    runOfBuildkite(claims) ??
    runOfSubject(claims);
  // The owner is part of the id, so that jobs with different owners do not share stored results.
  const hash = hashOf([issuer, run.claims, owner]);
  return { ...run, id: `run_${hash.slice(0, 32)}`, name: run.name.slice(0, maxNameLength).toWellFormed() };
}

/** The claims identify the run among all runs of its issuer. */
type Run = Omit<ProvenRun, 'id'>;

/** The run URL is the one that the action sends as Referer. */
function runOfGitHub(issuer: string, claims: Claims): Run | undefined {
  const plain = plainClaims(claims, 'repository', 'repository_id', 'run_id', 'run_attempt');
  if (plain === undefined) return undefined;
  const { repository, run_id, run_attempt } = plain;
  const { host, origin } = new URL(issuer);
  const server =
    host === 'token.actions.githubusercontent.com' ? 'https://github.com' : origin.replace('//token.actions.', '//');
  const url = `${server}/${repository}/actions/runs/${run_id}/attempts/${run_attempt}`;
  return { claims: plain, name: `${repository} run ${run_id}`, origin: url };
}

/** https://docs.gitlab.com/ci/secrets/id_token_authentication/ */
function runOfGitLab(issuer: string, claims: Claims): Run | undefined {
  const plain = plainClaims(claims, 'project_path', 'project_id', 'pipeline_id');
  if (plain === undefined) return undefined;
  const { project_path, pipeline_id } = plain;
  const url = `${issuer.replace(/\/$/, '')}/${project_path}/-/pipelines/${pipeline_id}`;
  return { claims: plain, name: `${project_path} pipeline ${pipeline_id}`, origin: url };
}

/** https://buildkite.com/docs/agent/v3/cli/reference/oidc */
function runOfBuildkite(claims: Claims): Run | undefined {
  const plain = plainClaims(claims, 'organization_slug', 'pipeline_slug', 'build_number');
  if (plain === undefined) return undefined;
  const { organization_slug, pipeline_slug, build_number } = plain;
  const pipeline = `${organization_slug}/${pipeline_slug}`;
  const url = `https://buildkite.com/${pipeline}/builds/${build_number}`;
  return { claims: plain, name: `${pipeline} build ${build_number}`, origin: url };
}

/** The claims with these names; undefined if one is missing or not a plain value. */
function plainClaims<Name extends string>(
  claims: Claims,
  ...names: readonly Name[]
): Readonly<Record<Name, string>> | undefined {
  const values = names.map((name) => textOf(claims[name]));
  // Object.fromEntries() does not keep the names in its type.
  return values.every(isPlain)
    ? (Object.fromEntries(names.map((name, index) => [name, values[index]])) as Record<Name, string>)
    : undefined;
}

const maxLength = 500;

/** Whether the text can be part of a URL without changing its structure. */
const isPlain = (text: string): boolean =>
  text.length <= maxLength && text.split('/').every((part) => /^[\w.-]+$/.test(part) && !/^\.\.?$/.test(part));

/** Fallback: all jobs with the same `sub` count as one run. */
function runOfSubject(claims: Claims): Run {
  const whole = textOf(claims['sub']);
  // For a long subject, the audit log shows its start and its hash, which is unique.
  const sub = whole.length > maxLength ? `${whole.slice(0, maxLength)}… ${hashOf(whole)}` : whole;
  return { claims: { sub }, name: sub.replaceAll(/\p{C}/gu, ' ') || 'a job', origin: null };
}

/** Accepts numbers, because build_number of Buildkite is one. */
const textOf = (claim: unknown): string =>
  typeof claim === 'string' || typeof claim === 'number' ? String(claim) : '';
