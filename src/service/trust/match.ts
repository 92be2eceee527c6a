import { joinFirst } from '../../interface/format.ts';
import { quoteForLog } from '../../interface/safe-text.ts';
import { scopes as allScopes, grants, type Scope } from '../contract/scopes.ts';
import { isGitHub } from './new-rule.ts';
import type { TrustRule } from './rules.ts';

export type TrustDecision =
  | { readonly kind: 'trusted'; readonly rule: TrustRule; readonly scopes: readonly Scope[] }
  /** `reason` is a sentence for the log, and is not sent to the client. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The job is trusted, but not for these scopes. The client may know that. `reason` is for the log. */
  | { readonly kind: 'invalid-scope'; readonly reason: string };

type Claims = Readonly<Record<string, unknown>>;

/**
 * Exactly one rule must match. With several, the permissions of a job and the owner of its locks would depend on their
 * combination. `requested` are the requested scopes; if empty, the token gets all scopes of the rule.
 */
export function matchTrustRules(
  rules: readonly TrustRule[],
  issuer: string,
  claims: Claims,
  requested: readonly Scope[] = [],
): TrustDecision {
  const ofIssuer = rules
    .filter((rule) => rule.issuer === issuer)
    .map((rule) => ({ rule, differences: differencesOf(rule, claims) }));
  const [rule, ...others] = ofIssuer.filter(({ differences }) => differences.length === 0).map((each) => each.rule);
  if (rule === undefined) return { kind: 'refused', reason: noMatchReason(ofIssuer, issuer) };
  if (others.length > 0) {
    const reason = `${others.length + 1} trust rules match the job, and exactly one must: ${joinFirst([rule, ...others].map(({ id }) => id))}. Narrow them, or remove all but one.`;
    return { kind: 'refused', reason };
  }
  const wanted = requested.length > 0 ? requested : rule.scopes;
  if (wanted.every((scope) => grants(rule.scopes, scope))) {
    return { kind: 'trusted', rule, scopes: allScopes.filter((scope) => wanted.includes(scope)) };
  }
  const reason = `The job requested ${requested.join(', ')}, which the trust rule ${rule.id} does not allow.`;
  return { kind: 'invalid-scope', reason };
}

function differencesOf(rule: TrustRule, claims: Claims): readonly string[] {
  // The service never creates such a rule, so someone must have edited the database.
  if (Object.keys(rule.claims).length === 0) return ['it names no claim, and so trusts nothing'];
  const ofClaims = Object.entries(rule.claims).flatMap(([claim, needed]) => {
    const found = claimOf(claims, claim);
    return found === needed ? [] : [`${claim} must be ${quoteForLog(needed)} and ${describeClaim(found)}`];
  });
  return [...ofClaims, eventDifference(rule, claims)].filter((difference) => difference !== undefined);
}

/**
 * Events of pull requests run code from outside the repository, and no claim distinguishes pull requests from forks
 * from those within the repository. The prefix also covers pull_request_review and pull_request_review_comment.
 */
function eventDifference({ issuer, claims: needed }: TrustRule, claims: Claims): string | undefined {
  if (Object.hasOwn(needed, 'event_name')) return undefined;
  const event = claimOf(claims, 'event_name');
  if (event === undefined ? !isGitHub(issuer) : typeof event === 'string' && !event.startsWith('pull_request'))
    return undefined;
  return `event_name ${describeClaim(event)}, and pull requests are trusted only by a rule that names the event`;
}

const claimOf = (claims: Claims, name: string): unknown => (Object.hasOwn(claims, name) ? claims[name] : undefined);

function describeClaim(value: unknown): string {
  if (value === undefined) return 'is missing';
  return typeof value === 'string' ? `is ${quoteForLog(value)}` : 'is not a string';
}

const maxDifferences = 3;

function noMatchReason(
  rules: readonly { readonly rule: TrustRule; readonly differences: readonly string[] }[],
  issuer: string,
): string {
  const [nearest] = rules.toSorted((one, other) => one.differences.length - other.differences.length);
  if (nearest === undefined) return `No trust rule names the issuer ${quoteForLog(issuer)}.`;
  const differences = nearest.differences.slice(0, maxDifferences).join('; ');
  return `No trust rule matches the job. The nearest is ${nearest.rule.id}: ${differences}.`;
}
