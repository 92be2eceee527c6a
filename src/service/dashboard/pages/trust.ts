import { html } from 'hono/html';
import { githubIssuer } from '../../../interface/github-issuer.ts';
import { Refusal } from '../../contract/problem.ts';
import { actorOf } from '../../http/context.ts';
import { findTrustRule, listTrustRules, removeTrustRule, type TrustRule } from '../../trust/rules.ts';
import { warningsOf } from '../../trust/warnings.ts';
import { listWorkspaces } from '../../workspaces/workspaces.ts';
import { plural } from '../assets/text.js';
import { buttonLink, postForm } from '../elements/fields.ts';
import { groupedTable, unseen } from '../elements/list.ts';
import { empty, literal, type Markup, notice, time, userText } from '../elements/text.ts';
import { addAction, addPage, type PageCall, queryOf, type Site } from '../frame/page.ts';
import { shownScopes, shownWorkspaces } from './permissions.ts';

const removal = { path: '/trust/:rule/remove', access: 'admin' } as const;

const nobody = empty(
  'No workflow is trusted yet.',
  html`A trusted job proves its identity, so its repository needs no token among its secrets. <a class="nowrap" href="/trust/new">Add the first</a>`,
);

/** Identity tokens need the public URL of the service as their audience. */
const unreachable = html`<p class="warning">No job gets a token yet: the service does not know its address. Start it with
  <code>--public-url</code>.</p>`;

export function addTrustPages(site: Site): void {
  const { storage } = site;

  addPage(site, { path: '/trust', access: 'admin' }, async (call) => {
    const query = queryOf(call, 'added', 'notice');
    const rules = await listTrustRules(storage);
    const added = rules.find(({ id }) => id === query.added);
    const warnings =
      added === undefined
        ? []
        : warningsOf(
            added,
            rules,
            (await listWorkspaces(storage.read)).map(({ id }) => id),
          );
    const main = html`
      ${notice(added && `Jobs of ${nameOf(added)} are trusted now.`)}
      ${notice(query.notice === 'removed' ? 'Rule removed. Its jobs can get no more tokens, and their current tokens are revoked.' : undefined)}
      ${site.publicUrl() === undefined ? unreachable : ''}
      ${warnings.map((warning) => html`<p class="warning">${userText(warning)}</p>`)}
      ${rules.length === 0 ? nobody : ruleTable(rules, call.now)}`;
    const actions = html`<a class="button primary" href="/trust/new">Trust a workflow</a>`;
    return { title: 'Trusted workflows', actions, main };
  });

  addPage(site, removal, async (call) => {
    const rule = await addressedRule(call, site);
    const main = html`
      <p>Its jobs can get no more tokens, and their current tokens are revoked: jobs that run now fail, unless they have a token
        in their secrets. Their locks stay until they are released or expire.</p>
      <dl class="facts">
        <dt>Rule</dt><dd>${literal(rule.id)}</dd>
        <dt>Claims</dt><dd>${shownClaims(rule)}</dd>
        <dt>Owner of the locks</dt><dd>${userText(rule.owner)}</dd>
        <dt>Scopes</dt><dd>${shownScopes(rule.scopes)}</dd>
        <dt>Workspaces</dt><dd>${shownWorkspaces(rule.workspaces)}</dd>
        <dt>Added</dt><dd>${time(rule.created_at, call.now)}</dd>
      </dl>
      ${postForm({ action: `/trust/${rule.id}/remove`, kind: 'danger', button: 'Remove rule', cancel: buttonLink('/trust', 'Cancel') })}`;
    return { title: `No longer trust jobs of ${nameOf(rule)}?`, main };
  });

  addAction(site, removal, async (call) => {
    const { id } = await addressedRule(call, site);
    await storage.commit('global', (db) => removeTrustRule(db, storage.now, actorOf(call.c), id));
    return { to: '/trust?notice=removed' };
  });
}

const headings = ['Repository', 'Claims', 'Scopes', 'Workspaces', 'Added', unseen('Remove')];

const ruleTable = (rules: readonly TrustRule[], now: number): Markup =>
  groupedTable(
    'cards',
    headings,
    [...Map.groupBy(rules, ({ owner }) => owner)].map(([owner, ofOwner]) => ({
      title: ownerTitle(owner, ofOwner),
      rows: ofOwner.map((rule) => row(rule, now)),
    })),
  );

const ownerTitle = (owner: string, { length }: readonly TrustRule[]): Markup =>
  html`<span class="faint">Locks belong to</span> ${userText(owner)} <span class="faint">${plural(length, 'rule')}</span>`;

function row(rule: TrustRule, now: number): Markup {
  const { id, scopes, workspaces, created_at } = rule;
  return html`<tr id="${id}">
    <th scope="row">${userText(nameOf(rule))}<div class="id">${literal(id)}</div></th>
    <td data-label="Claims">${shownClaims(rule)}</td>
    <td data-label="Scopes">${shownScopes(scopes)}</td>
    <td data-label="Workspaces">${shownWorkspaces(workspaces)}</td>
    <td data-label="Added">${time(created_at, now)}</td>
    <td class="nowrap"><a href="/trust/${id}/remove">Remove<span class="visually-hidden"> the rule for ${userText(nameOf(rule))}</span></a></td>
  </tr>`;
}

/** Display name. */
const nameOf = ({ repository, issuer }: TrustRule): string => repository ?? issuer;

function shownClaims({ claims, workflow, issuer }: TrustRule): Markup {
  const named = { ...claims, ...(workflow !== null && { workflow }), ...(issuer !== githubIssuer && { issuer }) };
  return html`${Object.entries(named).map(([name, value]) => html`<div>${literal(`${name}=${value}`)}</div>`)}`;
}

/** The rule in the URL. Invalid ids are not looked up, because they may contain characters that a database rejects. */
async function addressedRule({ c }: PageCall, { storage }: Site): Promise<TrustRule> {
  const id = c.req.param('rule') ?? '';
  const rule = /^trust_[0-9a-f-]{36}$/.test(id) ? await findTrustRule(storage.read, id) : undefined;
  if (rule === undefined) throw new Refusal('not-found', 'There is no such rule. It may have been removed.');
  return rule;
}
