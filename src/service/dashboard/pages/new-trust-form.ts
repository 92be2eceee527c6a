import { html } from 'hono/html';
import { githubIssuer } from '../../../interface/github-issuer.ts';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { scopes } from '../../../interface/scopes.ts';
import {
  parseClaim,
  parseClaimValue,
  parseEvent,
  parseGitHubId,
  parseIssuer,
  parseRef,
  parseRepository,
  parseRuleOwner,
  parseWorkflow,
  type RuleClaim,
  type RuleProblems,
  readRule,
  type TypedRule,
} from '../../trust/new-rule.ts';
import type { NewTrustRule } from '../../trust/rules.ts';
import { field, group, problemSummary } from '../elements/fields.ts';
import type { Markup } from '../elements/text.ts';
import { type Form, formField } from '../frame/form.ts';
import type { View } from '../frame/layout.ts';
import type { PageCall } from '../frame/page.ts';
import {
  noPermissions,
  type Permissions,
  permissionsIn,
  readScopes,
  readWorkspaces,
  scopeChoices,
  workspaceChoices,
} from './permissions.ts';

interface TextField {
  readonly name: 'repository' | 'repositoryId' | 'repositoryOwnerId' | 'ref' | 'environment' | 'workflow' | 'event';
  readonly parse: (text: string) => Parsed<string>;
  readonly hint: Markup | string;
}

/** The form as typed and chosen. */
export interface Typed extends Permissions, Readonly<Record<TextField['name'], string>> {
  readonly owner: string;
  readonly issuer: string;
  /** `NAME=VALUE`, one a line. */
  readonly claims: string;
}

export const untouched: Typed = {
  ...noPermissions,
  repository: '',
  repositoryId: '',
  repositoryOwnerId: '',
  ref: '',
  environment: '',
  workflow: '',
  event: '',
  owner: '',
  issuer: githubIssuer,
  claims: '',
};

/** In the order of the form. */
const titles: Readonly<Record<keyof TypedRule, string>> = {
  repository: 'Repository',
  repositoryId: 'Repository id',
  repositoryOwnerId: 'Owner id',
  ref: 'Ref',
  environment: 'Environment',
  workflow: 'Workflow',
  event: 'Event',
  owner: 'Owner of the locks',
  scopes: 'Scopes',
  workspaces: 'Workspaces',
  issuer: 'Issuer',
  claims: 'Claims',
};

/** Each may be empty. */
const textFields: readonly TextField[] = [
  {
    name: 'repository',
    parse: parseRepository,
    hint: 'Its name, such as octo/game: for people to read. Jobs are matched by ids, which do not change when the name does.',
  },
  {
    name: 'repositoryId',
    parse: parseGitHubId,
    hint: html`Both ids are shown by <code>gh api repos/OWNER/NAME --jq '.id, .owner.id'</code>`,
  },
  { name: 'repositoryOwnerId', parse: parseGitHubId, hint: 'The id of the user or the organization.' },
  {
    name: 'ref',
    parse: parseRef,
    hint: 'Only jobs on this ref, such as refs/heads/main. Without a ref and an environment, every branch is trusted.',
  },
  {
    name: 'environment',
    parse: parseClaimValue,
    hint: 'Only jobs with this environment. Its protection rules then decide who may run one.',
  },
  {
    name: 'workflow',
    parse: parseWorkflow,
    hint: 'Only this workflow of the repository, such as .github/workflows/release.yml.',
  },
  {
    name: 'event',
    parse: parseEvent,
    hint: 'Only jobs of this event. Without one, all are trusted but those of pull requests.',
  },
];

/** The scope admin can create permanent tokens, which a job must not do. */
const scopesOfJobs = scopes.filter((scope) => scope !== 'admin');

export interface NewTrustForm {
  readonly typed: Typed;
  readonly problems: RuleProblems;
  /** Error that belongs to no single field. */
  readonly refusal?: Markup | undefined;
  /** To choose from. */
  readonly workspaces: readonly string[];
}

export function newTrustForm(call: PageCall, { typed, problems, refusal, workspaces }: NewTrustForm): View {
  const input = (name: TextField['name'] | 'owner' | 'issuer', hint: Markup | string, required = '') =>
    field({
      id: name,
      title: titles[name],
      problem: problems[name],
      hint,
      control: (aria) =>
        html`<input id="${name}" name="${name}" value="${typed[name]}"${required} autocomplete="off" spellcheck="false"${aria}>`,
    });
  const groupOf = (name: 'scopes' | 'workspaces', content: Markup) =>
    group({ id: name, title: titles[name], problem: problems[name], content });
  const onlyThese = 'Such jobs see no others.';
  const main = html`${refusal === undefined ? '' : html`<p class="warning" role="alert">${refusal}</p>`}
    ${problemSummary('Nothing was added.', titles, problems)}
    <p>A job shows the identity that GitHub signs for it and gets a token of 15 minutes in exchange, so that its repository
      needs no secret.</p>
    <form method="post" action="/trust" class="narrow">
      ${formField(call)}
      ${textFields.map(({ name, hint }) => input(name, hint))}
      ${input('owner', 'The locks of such jobs belong to this owner: every token of the same owner can renew and release them. Case counts.', ' required')}
      ${groupOf('scopes', scopeChoices(typed, problems.scopes !== undefined, scopesOfJobs))}
      ${groupOf('workspaces', workspaceChoices(typed, problems.workspaces !== undefined, workspaces, onlyThese))}
      ${input('issuer', 'The OIDC issuer (iss). For Enterprise Server, https://HOST/_services/token; for GitLab, its address.', ' required')}
      ${field({
        id: 'claims',
        title: titles.claims,
        problem: problems.claims,
        hint: 'Other required claims, one NAME=VALUE per line, such as project_id=42. For issuers other than GitHub.',
        control: (aria) =>
          html`<textarea id="claims" name="claims" rows="3" autocomplete="off" spellcheck="false"${aria}>${typed.claims}</textarea>`,
      })}
      <div class="actions"><button class="primary">Trust these jobs</button> <a class="button" href="/trust">Cancel</a></div>
    </form>`;
  return { title: 'Trust a workflow', location: { section: 'trust' }, main };
}

export const typedIn = (form: Form): Typed => ({
  ...permissionsIn(form),
  repository: form.text('repository'),
  repositoryId: form.text('repositoryId'),
  repositoryOwnerId: form.text('repositoryOwnerId'),
  ref: form.text('ref'),
  environment: form.text('environment'),
  workflow: form.text('workflow'),
  event: form.text('event'),
  owner: form.text('owner'),
  issuer: form.text('issuer'),
  claims: form.text('claims'),
});

export type Reading =
  | { readonly kind: 'rule'; readonly rule: NewTrustRule }
  | { readonly kind: 'wrong'; readonly problems: RuleProblems };

/** By the rules of the command. Mistakes in fields are reported at once, and when there are none, those in all together. */
export function readNewTrust(typed: Typed): Reading {
  const problems: { -readonly [field in keyof TypedRule]?: string } = {};
  function take<T>(name: keyof TypedRule, parsed: Parsed<T>): T | undefined {
    if (parsed.ok) return parsed.value;
    problems[name] = parsed.reason;
    return undefined;
  }
  const texts = textFields.map(({ name, parse }) => {
    const text = typed[name].trim();
    return [name, text === '' ? undefined : take(name, parse(text))] as const;
  });
  const owner = take('owner', parseRuleOwner(typed.owner));
  const issuer = take('issuer', parseIssuer(typed.issuer.trim()));
  const claims = take('claims', readClaims(typed.claims));
  const chosen = take('scopes', readScopes(typed));
  const workspaces = take('workspaces', readWorkspaces(typed));
  if (owner === undefined || issuer === undefined || claims === undefined || chosen === undefined)
    return { kind: 'wrong', problems };
  if (Object.keys(problems).length > 0) return { kind: 'wrong', problems };
  const given = { owner, issuer, claims, scopes: chosen, workspaces: workspaces ?? [] };
  const read = readRule({ ...Object.fromEntries(texts), ...given });
  return read.ok ? { kind: 'rule', rule: read.rule } : { kind: 'wrong', problems: read.problems };
}

function readClaims(text: string): Parsed<readonly RuleClaim[]> {
  const claims: RuleClaim[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const claim = parseClaim(line.trim());
    if (!claim.ok) return refused(`Line ${index + 1}: ${claim.reason}`);
    claims.push(claim.value);
  }
  return accepted(claims);
}
