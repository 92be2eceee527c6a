import { isGitHub } from '../../interface/github-issuer.ts';
import { idClaims } from './issuers.ts';
import type { NewTrustRule, TrustRule } from './rules.ts';

const maxOverlaps = 3;

/** Warnings for the operator who adds the rule. `all` are the existing rules, `workspaces` the existing ids. */
export function warningsOf(rule: TrustRule, all: readonly TrustRule[], workspaces: readonly string[]): string[] {
  const missing = (rule.workspaces ?? []).filter((id) => !workspaces.includes(id));
  const overlaps = all.filter((other) => other.id !== rule.id && overlap(rule, other));
  return [
    ...[wideRuleWarning(rule), strangersWarning(rule)].filter((reason) => reason !== undefined),
    ...missing.map(
      (id) => `The workspace "${id}" does not exist. If one with this id is added later, the rule applies to it.`,
    ),
    ...overlaps
      .slice(0, maxOverlaps)
      .map(
        ({ id }) =>
          `A job that ${id} matches as well is refused: exactly one rule must match. Make one of them narrower.`,
      ),
  ];
}

/** Claims of GitHub that determine which code runs. The workflow is not one: any branch may contain a changed file. */
const codeOfGitHub = ['ref', 'environment', 'job_workflow_ref'];

function wideRuleWarning({ issuer, claims, workflow }: NewTrustRule): string | undefined {
  const names = Object.keys(claims);
  if (!isGitHub(issuer)) {
    return names.every((name) => idClaims.has(name))
      ? 'Every job there can use this rule, on any branch. Name a claim that narrows it, such as the one for the branch.'
      : undefined;
  }
  if (names.some((name) => codeOfGitHub.includes(name))) return undefined;
  const where = Object.hasOwn(claims, 'repository_id') ? 'the repository' : 'every repository with the property';
  return workflow === null
    ? `Every workflow on every branch of ${where} can use this rule. Narrow it by a ref or an environment.`
    : `Every branch of ${where} can use this rule, with a ${workflow} of its own. Narrow it by a ref or an environment.`;
}

function strangersWarning(rule: NewTrustRule): string | undefined {
  return isOfPullRequests(rule)
    ? `Jobs of the event ${rule.claims['event_name']} can use this rule. A pull request from a fork can control what they do: review their workflow with this in mind.`
    : undefined;
}

function overlap(one: NewTrustRule, other: NewTrustRule): boolean {
  const contradict = Object.entries(one.claims).some(
    ([name, value]) => Object.hasOwn(other.claims, name) && other.claims[name] !== value,
  );
  const sameWorkflow = one.workflow === null || other.workflow === null || one.workflow === other.workflow;
  return (
    one.issuer === other.issuer && !contradict && sameWorkflow && isOfPullRequests(one) === isOfPullRequests(other)
  );
}

const isOfPullRequests = ({ claims }: NewTrustRule): boolean =>
  claims['event_name']?.startsWith('pull_request') === true;
