import { html } from 'hono/html';
import { githubIssuer } from '../../../interface/github-issuer.ts';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { scopes } from '../../../interface/scopes.ts';
import {
  type EnteredRule,
  type RuleClaim,
  type RuleErrors,
  readRule,
  repeatedRuleFields,
  ruleFields,
} from '../../trust/new-rule.ts';
import type { NewTrustRule } from '../../trust/rules.ts';
import { field, group, hintOf, problemSummary, textInput } from '../elements/fields.ts';
import type { Markup } from '../elements/text.ts';
import { type Form, parseForm } from '../frame/form.ts';
import { allValues, type EnteredTexts, enteredTexts, type FormResult } from '../frame/form-values.ts';
import type { View } from '../frame/layout.ts';
import {
  noPermissions,
  type Permissions,
  permissionsIn,
  readScopes,
  readWorkspaces,
  scopeChoices,
  workspaceChoices,
} from './permissions.ts';

/** Repeated fields contain one `NAME=VALUE` per line. */
export type EnteredRuleForm = Permissions & EnteredTexts<keyof typeof ruleFields | keyof typeof repeatedRuleFields>;

const { repository, repositoryId, repositoryOwnerId, ref, environment, workflow, event, owner, issuer } = ruleFields;
const { properties, claims } = repeatedRuleFields;

/** Titles of the fields, in the order of the form. */
const titles: Readonly<Record<keyof EnteredRule, string>> = {
  repository: repository.title,
  repositoryId: repositoryId.title,
  repositoryOwnerId: repositoryOwnerId.title,
  properties: properties.title,
  ref: ref.title,
  environment: environment.title,
  workflow: workflow.title,
  event: event.title,
  owner: owner.title,
  scopes: 'Scopes',
  workspaces: 'Workspaces',
  issuer: issuer.title,
  claims: claims.title,
};

/** Fields that may be empty. */
const optionalNames = [
  'repository',
  'repositoryId',
  'repositoryOwnerId',
  'ref',
  'environment',
  'workflow',
  'event',
] as const;

/** Excludes admin: a job could use it to create permanent tokens. */
const scopesOfJobs = scopes.filter((scope) => scope !== 'admin');

export interface NewTrustForm {
  readonly entered: EnteredRuleForm;
  readonly errors: RuleErrors;
  /** Error that does not belong to a single field. */
  readonly refusal?: Markup | undefined;
  /** Ids of the available workspaces. */
  readonly workspaces: readonly string[];
}

export function newTrustForm({ entered, errors, refusal, workspaces }: NewTrustForm): View {
  const input = (name: keyof typeof ruleFields, more: Markup | string = '') =>
    textInput(ruleFields[name], { name, value: entered[name], problem: errors[name], more });
  const pairs = (name: keyof typeof repeatedRuleFields, more: string) =>
    field({
      id: name,
      title: titles[name],
      problem: errors[name],
      hint: `${hintOf(repeatedRuleFields[name])} One NAME=VALUE per line${more}.`,
      control: (aria) =>
        html`<textarea id="${name}" name="${name}" rows="3" autocomplete="off" spellcheck="false"${aria}>${entered[name]}</textarea>`,
    });
  const groupOf = (name: 'scopes' | 'workspaces', content: Markup) =>
    group({ id: name, title: titles[name], problem: errors[name], content });
  const onlyThese = 'These jobs cannot see other workspaces.';
  const main = html`${refusal === undefined ? '' : html`<p class="warning" role="alert">${refusal}</p>`}
    ${problemSummary('Nothing was added.', titles, errors)}
    <p>A job exchanges its OIDC identity token for an API token that expires after 15 minutes, so its repository needs
      no secret.</p>
    <form method="post" action="/trust" class="narrow">
      ${input('repository')}
      ${input('repositoryId', html`Both ids are shown by <code>gh api repos/OWNER/NAME --jq '.id, .owner.id'</code>`)}
      ${input('repositoryOwnerId')}
      ${pairs('properties', ', instead of a repository id')}
      ${input('ref', 'Without a ref and an environment, every branch is trusted.')}
      ${input('environment', 'Its protection rules then decide who may run one.')}
      ${input('workflow')}
      ${input('event')}
      ${input('owner', 'Every token of the same owner can renew and release them.')}
      ${groupOf('scopes', scopeChoices(entered, errors.scopes !== undefined, scopesOfJobs))}
      ${groupOf('workspaces', workspaceChoices(entered, errors.workspaces !== undefined, workspaces, onlyThese))}
      ${input('issuer', 'For Enterprise Server, https://HOST/_services/token; for GitLab, its address.')}
      ${pairs('claims', ', such as project_id=42 for GitLab')}
      <div class="actions"><button class="primary">Trust these jobs</button> <a class="button" href="/trust">Cancel</a></div>
    </form>`;
  return { title: 'Trust a workflow', location: { section: 'trust' }, main };
}

const textNames = [...optionalNames, 'owner', 'issuer', 'properties', 'claims'] as const;

export const newRuleDefaults = (): EnteredRuleForm => ({
  ...noPermissions,
  ...enteredTexts(parseForm(''), textNames),
  issuer: githubIssuer,
});

export const enteredRule = (form: Form): EnteredRuleForm => ({
  ...permissionsIn(form),
  ...enteredTexts(form, textNames),
});

/** Validates the form like the command: first each field on its own, then the fields in combination. */
export function readNewTrust(entered: EnteredRuleForm): FormResult<NewTrustRule, keyof EnteredRule> {
  const texts = optionalNames.map((name) => {
    const text = entered[name].trim();
    return [name, text === '' ? accepted(undefined) : ruleFields[name].parse(text)] as const;
  });
  const optional = allValues(Object.fromEntries(texts));
  const required = allValues({
    owner: owner.parse(entered.owner),
    issuer: issuer.parse(entered.issuer.trim()),
    properties: readPairs(entered.properties, properties.parse),
    claims: readPairs(entered.claims, claims.parse),
    scopes: readScopes(entered),
    workspaces: readWorkspaces(entered),
  });
  if (!optional.ok || !required.ok) {
    return { ok: false, errors: { ...(!optional.ok && optional.errors), ...(!required.ok && required.errors) } };
  }
  const { workspaces, ...others } = required.value;
  return readRule({ ...optional.value, ...others, workspaces: workspaces ?? [] });
}

function readPairs(text: string, parse: (line: string) => Parsed<RuleClaim>): Parsed<readonly RuleClaim[]> {
  const pairs: RuleClaim[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const pair = parse(line.trim());
    if (!pair.ok) return refused(`Line ${index + 1}: ${pair.reason}`);
    pairs.push(pair.value);
  }
  return accepted(pairs);
}
