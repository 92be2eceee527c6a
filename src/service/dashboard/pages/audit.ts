import { html } from 'hono/html';
import { type AuditAction, auditActions, isAuditAction } from '../../audit/audit.ts';
import { type AuditPage, type AuditQuery, type RecordedEntry, readAudit } from '../../audit/read-audit.ts';
import { invalid } from '../../contract/problem.ts';
import type { App } from '../../http/context.ts';
import { parseAuditActor } from '../../tokens/audit-actor.ts';
import { looksLikeTokenId } from '../../tokens/secret.ts';
import { option } from '../elements/fields.ts';
import { empty, faint, literal, literals, type Markup, userText, verbatim } from '../elements/text.ts';
import { time } from '../elements/time.ts';
import { showPage } from '../frame/layout.ts';
import { addPage, type PageCall, queryOf } from '../frame/page.ts';
import type { DashboardParts } from '../frame/parts.ts';

const entriesOfPage = 50;

interface Filter {
  readonly action: string;
  readonly actor: string;
}

/** Also accepts actions of other versions. */
const canBeAction = (text: string): boolean => /^[\w.-]{1,64}$/.test(text);

function filterForm({ action, actor }: Filter, problem: string | undefined): Markup {
  const options = ['', ...auditActions, ...(action === '' || isAuditAction(action) ? [] : [action])];
  return html`<form method="get" action="/audit" class="filters" role="search">
    <div class="field"><label for="action">Action</label><select id="action" name="action">${options.map((value) => option(value, value === '' ? 'all actions' : value, action))}</select></div>
    <div class="field">
      <label for="actor">Who, by name or token id</label>
      <input id="actor" name="actor" type="search" value="${actor}" autocomplete="off" spellcheck="false"${problem === undefined ? '' : html` aria-invalid="true" aria-describedby="actor-problem"`}>
      ${problem === undefined ? '' : html`<p class="problem" id="actor-problem" role="alert">${problem}</p>`}
    </div>
    <button>Show</button>
    ${action === '' && actor === '' ? '' : html`<a href="/audit">Show all</a>`}
  </form>`;
}

function whose({ token_id }: RecordedEntry): Markup {
  if (token_id === null) return faint('at the command line');
  return looksLikeTokenId(token_id) ? html`<a href="/tokens#${token_id}">${literal(token_id)}</a>` : literal(token_id);
}

function row(entry: RecordedEntry, now: number): Markup {
  const { sequence, at, address } = entry;
  return html`<tr>
    <td>${time(at, now)}</td>
    <td>${sentence(entry)}
      <details><summary>Details<span class="visually-hidden"> of entry ${sequence}</span></summary>${verbatim(JSON.stringify(entry, null, 2))}</details></td>
    <td data-label="Token">${whose(entry)}</td>
    <td data-label="Address">${address === null ? faint('none') : literal(address)}</td>
  </tr>`;
}

const table = (entries: readonly RecordedEntry[], now: number): Markup => html`<table class="cards audit">
    <thead><tr><th scope="col">When</th><th scope="col">What</th><th scope="col">Token</th><th scope="col">Address</th></tr></thead>
    <tbody>${entries.map((entry) => row(entry, now))}</tbody>
  </table>`;

function addressOf({ action, actor }: Filter, before?: number): string {
  const query = new URLSearchParams();
  if (action !== '') query.set('action', action);
  if (actor !== '') query.set('actor', actor);
  if (before !== undefined) query.set('before', String(before));
  return query.size === 0 ? '/audit' : `/audit?${query}`;
}

function pages(filter: Filter, { before }: Pick<AuditQuery, 'before'>, next: number | undefined): Markup | string {
  if (before === undefined && next === undefined) return '';
  return html`<nav class="pages" aria-label="Pages">
    ${before === undefined ? '' : html`<a href="${addressOf(filter)}">Newest</a>`}
    ${next === undefined ? '' : html`<a href="${addressOf(filter, next)}" rel="next">Older</a>`}
  </nav>`;
}

function nothing(filter: Filter, before: number | undefined): Markup {
  if (before !== undefined)
    return empty('There are no older entries.', html`<a href="${addressOf(filter)}">Show the newest</a>`);
  return empty('No entry matches.', html`<a href="/audit">Show all entries</a>`);
}

function beforeIn(text: string): number | undefined {
  if (text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalid({ pointer: '#/before', detail: 'It is not a page of this list. Start again without it.' });
}

export function addAuditPage(app: App, parts: DashboardParts): void {
  const show = (call: PageCall, main: Markup, status?: number) =>
    showPage(call, { title: 'Audit', location: { section: 'audit' }, main }, status);

  function list(call: PageCall, filter: Filter, before: number | undefined, { entries, next }: AuditPage) {
    const content =
      entries.length === 0
        ? nothing(filter, before)
        : html`${table(entries, call.now)}${pages(filter, { before }, next)}`;
    return show(call, html`${filterForm(filter, undefined)}${content}`);
  }

  addPage(app, parts, { path: '/audit', access: 'admin' }, async (call) => {
    const query = queryOf(call, 'action', 'actor', 'before');
    const before = beforeIn(query.before);
    const action = canBeAction(query.action) ? query.action : '';
    const actor = parseAuditActor(query.actor.trim());
    // What was typed may be a secret: do not repeat it.
    if (!actor.ok) return show(call, filterForm({ action, actor: '' }, actor.why), 422);
    const filter = { action, actor: actor.value };
    const page = await readAudit(parts.storage, {
      limit: entriesOfPage,
      before,
      ...(action !== '' && { action }),
      ...(filter.actor !== '' && { actor: filter.actor }),
    });
    return list(call, filter, before, page);
  });
}

type Detail = RecordedEntry['detail'];

const textIn = (detail: Detail, name: string): string | undefined => {
  const value = detail[name];
  return typeof value === 'string' ? value : undefined;
};

/** Entries never change, so those of earlier versions may lack a field. */
const named = (detail: Detail, name: string): Markup => literal(textIn(detail, name) ?? 'unknown');

const listIn = (detail: Detail, name: string): readonly string[] => {
  const value = detail[name];
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
};

function signedIn(detail: Detail): Markup {
  return textIn(detail, 'by') === 'link' ? html`signed in with the first-start link` : html`signed in with a token`;
}

function tokenMade(detail: Detail): Markup {
  const list = (name: string) => literals(listIn(detail, name));
  const workspaces = detail['workspaces'];
  const limit = Array.isArray(workspaces) ? html`, only in ${list('workspaces')}` : '';
  return html`created the token ${named(detail, 'name')} with ${list('scopes')}${limit}`;
}

function forceReleased(detail: Detail): Markup {
  const reason = textIn(detail, 'reason');
  return html`released the lock on ${named(detail, 'path')} in ${named(detail, 'workspace')}, held by
    ${named(detail, 'owner')}, by force${reason === undefined ? '' : html`: “${userText(reason)}”`}`;
}

const hook = (detail: Detail): Markup =>
  html`the webhook to ${named(detail, 'origin')} in ${named(detail, 'workspace')}`;

/** What happened, as the rest of a sentence that begins with the actor. */
function done(action: AuditAction, detail: Detail): Markup {
  switch (action) {
    case 'session.signed-in':
      return signedIn(detail);
    case 'session.signed-out':
      return html`signed out`;
    case 'token.created':
      return tokenMade(detail);
    case 'token.revoked':
      return html`revoked the token ${named(detail, 'name')}`;
    case 'lock.force-released':
      return forceReleased(detail);
    case 'hook.registered':
      return html`registered ${hook(detail)}`;
    case 'hook.replaced':
      return html`changed ${hook(detail)}`;
    case 'hook.paused':
      return html`paused ${hook(detail)}`;
    case 'hook.resumed':
      return html`resumed ${hook(detail)}`;
    case 'hook.removed':
      return html`removed ${hook(detail)}`;
    case 'delivery.sent-again':
      return html`sent a delivery of ${hook(detail)} again`;
    case 'workspace.added':
      return html`added the workspace ${named(detail, 'workspace')}, a mirror of ${named(detail, 'remote')}`;
    case 'workspace.removed':
      return html`removed the workspace ${named(detail, 'workspace')}, a mirror of ${named(detail, 'remote')}`;
  }
}

/** Actions of other versions are shown as they are. */
export const sentence = ({ actor, action, detail }: RecordedEntry): Markup =>
  html`<strong>${userText(actor)}</strong> ${isAuditAction(action) ? done(action, detail) : html`did ${literal(action)}`}`;
