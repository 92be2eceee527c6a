import { html } from 'hono/html';
import { githubIssuer } from '../../../interface/github-issuer.ts';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { scopes } from '../../../interface/scopes.ts';
import { Refusal } from '../../contract/problem.ts';
import { actorOf } from '../../http/context.ts';
import { type EnteredRule, type RuleErrors, readRule, repeatedRuleFields, ruleFields } from '../../trust/new-rule.ts';
import type { RuleClaim } from '../../trust/rule-claim.ts';
import {
  addTrustRule,
  listTrustRules,
  maxTrustRules,
  type NewTrustRule,
  removeTrustRule,
  type TrustRule,
} from '../../trust/rules.ts';
import { warningsOf } from '../../trust/warnings.ts';
import { buttonLink, fieldInput, hintOf, postForm, textInput } from '../elements/fields.ts';
import { hiddenHeading, type Row } from '../elements/list.ts';
import { empty, literal, type Markup, time, userText } from '../elements/text.ts';
import { allValues, type Form, type FormResult, filledIn, optional } from '../frame/form.ts';
import { addAction, addPage, type PageCall, queryOf, type Site, type View } from '../frame/page.ts';
import {
  ownerTable,
  readScopes,
  readWorkspaces,
  scopeList,
  scopesField,
  workspaceIds,
  workspaceList,
  workspacesField,
} from './permissions.ts';

const removal = { path: '/trust/:rule/remove', access: 'admin' } as const;

const noRules = empty(
  'No workflow is trusted yet.',
  html`A trusted job proves its identity, so its repository needs no token among its secrets. <a class="nowrap" href="/trust/new">Add the first</a>`,
);

/** Identity tokens need the public URL of the service as their audience. */
const noPublicUrl = html`<p class="warning">Token exchange is disabled: the service has no public URL. Start it with
  <code>--public-url</code>.</p>`;

export function addTrustPages(site: Site): void {
  const { storage } = site;

  addPage(site, { path: '/trust', access: 'admin' }, async (call) => {
    const rules = await listTrustRules(storage);
    const { added: addedId } = queryOf(call, 'added');
    const added = rules.find(({ id }) => id === addedId);
    const warnings = added === undefined ? [] : warningsOf(added, rules, await workspaceIds(storage));
    const main = html`
      ${site.publicUrl() === undefined ? noPublicUrl : ''}
      ${warnings.map((warning) => html`<p class="warning">${userText(warning)}</p>`)}
      ${rules.length === 0 ? noRules : ownerTable(['Locks belong to', 'rule'], rules, (rule) => row(rule, call.now))}`;
    const actions = html`<a class="button primary" href="/trust/new">Trust a workflow</a>`;
    const notice = added && { notice: `Jobs of ${nameOf(added)} are trusted now.` };
    return { title: 'Trusted workflows', actions, main, ...notice };
  });

  addPage(site, removal, async (call) => {
    const rule = await requestedRule(call, site);
    const main = html`
      <p>Its jobs can get no more tokens, and their current tokens are revoked: jobs that run now fail, unless they have a token
        in their secrets. Their locks stay until they are released or expire.</p>
      <dl class="facts">
        <dt>Rule</dt><dd>${literal(rule.id)}</dd>
        <dt>Claims</dt><dd>${claimList(rule)}</dd>
        <dt>Owner of the locks</dt><dd>${userText(rule.owner)}</dd>
        <dt>Scopes</dt><dd>${scopeList(rule.scopes)}</dd>
        <dt>Workspaces</dt><dd>${workspaceList(rule.workspaces)}</dd>
        <dt>Added</dt><dd>${time(rule.created_at, call.now)}</dd>
      </dl>
      ${postForm({ action: `/trust/${rule.id}/remove`, kind: 'danger', button: 'Remove rule', cancel: buttonLink('/trust', 'Cancel') })}`;
    return { title: `No longer trust jobs of ${nameOf(rule)}?`, main };
  });

  addAction(site, removal, async (call) => {
    const { id } = await requestedRule(call, site);
    await storage.commit('global', (db) => removeTrustRule(db, storage.now, actorOf(call.c), id));
    return { to: '/trust', notice: 'rule-removed' };
  });
}

function row(rule: TrustRule, now: number): Row {
  const { id, scopes, workspaces, created_at } = rule;
  const name = userText(nameOf(rule));
  return [
    ['Repository', html`${name}<div class="faint" id="${id}">${literal(id)}</div>`, 'head'],
    ['Claims', claimList(rule)],
    ['Scopes', scopeList(scopes)],
    ['Workspaces', workspaceList(workspaces)],
    ['Added', time(created_at, now)],
    [
      hiddenHeading('Remove'),
      html`<a href="/trust/${id}/remove">Remove<span class="visually-hidden"> the rule for ${name}</span></a>`,
      'nowrap',
    ],
  ];
}

const nameOf = ({ repository, issuer }: TrustRule): string => repository ?? issuer;

function claimList({ claims, workflow, issuer }: TrustRule): Markup {
  const named = { ...claims, ...(workflow !== null && { workflow }), ...(issuer !== githubIssuer && { issuer }) };
  return html`${Object.entries(named).map(([name, value]) => html`<div>${literal(`${name}=${value}`)}</div>`)}`;
}

async function requestedRule({ c }: PageCall, { storage }: Site): Promise<TrustRule> {
  const rule = (await listTrustRules(storage)).find(({ id }) => id === c.req.param('rule'));
  if (rule === undefined) throw new Refusal('not-found', 'There is no such rule. It may have been removed.');
  return rule;
}

export function addNewTrustPages(site: Site): void {
  const { storage } = site;

  async function showForm(form: Form, errors: RuleErrors, status: number, refusal?: Markup): Promise<View> {
    const main = html`${refusal === undefined ? '' : html`<p class="warning" role="alert">${refusal}</p>`}
      <p>A job exchanges its OIDC identity token for an API token that expires after 15 minutes, so its repository needs
        no secret.</p>
      ${trustForm(form, errors, await workspaceIds(storage))}`;
    return { title: 'Trust a workflow', main, status };
  }

  addPage(site, { path: '/trust/new', access: 'admin' }, () => showForm(newRuleDefaults, {}, 200));

  addAction(site, { path: '/trust', access: 'admin' }, async (call) => {
    const read = readNewTrust(call.form);
    if (!read.ok) return showForm(call.form, read.errors, 422);
    const refuse = (reason: Markup) => showForm(call.form, {}, 409, reason);
    const added = await storage.commit('global', (db) => addTrustRule(db, storage.now, actorOf(call.c), read.value));
    switch (added.kind) {
      case 'added':
        return { to: `/trust?added=${added.rule.id}` };
      case 'exists':
        return refuse(
          html`The same rule already exists: <a href="/trust#${added.rule.id}">${literal(added.rule.id)}</a>. Nothing was added.`,
        );
      case 'too-many':
        return refuse(html`The maximum of ${maxTrustRules} rules is reached. Remove one that is no longer used.`);
    }
  });
}

/** Excludes admin: a job could use it to create permanent tokens. */
const scopesOfJobs = scopes.filter((scope) => scope !== 'admin');

function trustForm(values: Form, errors: RuleErrors, workspaces: readonly string[]): Markup {
  const input = (name: keyof typeof ruleFields, more?: Markup | string) => fieldInput(ruleFields[name], name, more);
  const pairs = (name: keyof typeof repeatedRuleFields, more: string) =>
    textInput(name, repeatedRuleFields[name].title, {
      hint: `${hintOf(repeatedRuleFields[name])} One NAME=VALUE per line${more}.`,
      rows: 3,
    });
  return postForm({
    action: '/trust',
    values,
    fields: [
      input('repository'),
      input('repositoryId', html`Both ids are shown by <code>gh api repos/OWNER/NAME --jq '.id, .owner.id'</code>`),
      input('repositoryOwnerId'),
      pairs('properties', ', instead of a repository id'),
      input('ref', 'Without a ref and an environment, every branch is trusted.'),
      input('environment', 'Its protection rules then decide who may run one.'),
      input('workflow'),
      input('event'),
      input('owner', 'Every token of the same owner can renew and release them.'),
      scopesField(scopesOfJobs),
      workspacesField(workspaces, 'These jobs cannot see other workspaces.'),
      input('issuer', 'For Enterprise Server, https://HOST/_services/token; for GitLab, its URL.'),
      pairs('claims', ', such as project_id=42 for GitLab'),
    ],
    errors,
    nothingDone: 'Nothing was added.',
    button: 'Trust these jobs',
    cancel: buttonLink('/trust', 'Cancel'),
  });
}

export const newRuleDefaults = filledIn({ reach: 'all', issuer: githubIssuer });

/** Validates the form like the command: first each field on its own, then the fields in combination. */
export function readNewTrust(form: Form): FormResult<NewTrustRule, keyof EnteredRule> {
  const text = (name: Exclude<keyof typeof ruleFields, 'owner' | 'issuer'>) =>
    optional(form.text(name), ruleFields[name].parse);
  const read = allValues({
    repository: text('repository'),
    repositoryId: text('repositoryId'),
    repositoryOwnerId: text('repositoryOwnerId'),
    ref: text('ref'),
    environment: text('environment'),
    workflow: text('workflow'),
    event: text('event'),
    owner: ruleFields.owner.parse(form.text('owner')),
    issuer: ruleFields.issuer.parse(form.text('issuer').trim()),
    properties: readPairs(form.text('properties'), repeatedRuleFields.properties.parse),
    claims: readPairs(form.text('claims'), repeatedRuleFields.claims.parse),
    scopes: readScopes(form),
    workspaces: readWorkspaces(form),
  });
  return read.ok ? readRule({ ...read.value, workspaces: read.value.workspaces ?? [] }) : read;
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
