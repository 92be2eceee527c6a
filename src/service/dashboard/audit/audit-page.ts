import { html } from 'hono/html';
import { auditActions, isAuditAction } from '../../audit/audit.ts';
import {
  type AuditPage,
  type AuditQuery,
  parseAuditActor,
  type RecordedEntry,
  readAudit,
} from '../../audit/read-audit.ts';
import type { App } from '../../http/operation.ts';
import { invalid } from '../../http/refusal.ts';
import { looksLikeTokenId } from '../../tokens/secret.ts';
import type { DashboardParts } from '../dashboard.ts';
import { empty } from '../elements/empty.ts';
import { json } from '../elements/json.ts';
import type { Markup } from '../elements/markup.ts';
import { literal } from '../elements/text.ts';
import { time } from '../elements/time.ts';
import { showPage } from '../layout.ts';
import { addPage, type PageCall, queryOf } from '../page.ts';
import { sentence } from './sentence.ts';

const entriesOfPage = 50;

interface Filter {
  readonly action: string;
  readonly actor: string;
}

/** An action that another version has recorded can be asked for as well. */
const canBeAction = (text: string): boolean => /^[\w.-]{1,64}$/.test(text);

function filterForm({ action, actor }: Filter, problem: string | undefined): Markup {
  const option = (value: string) =>
    html`<option value="${value}"${value === action ? ' selected' : ''}>${value === '' ? 'all actions' : value}</option>`;
  const options = ['', ...auditActions, ...(action === '' || isAuditAction(action) ? [] : [action])];
  return html`<form method="get" action="/audit" class="filters" role="search">
    <div class="field"><label for="action">Action</label><select id="action" name="action">${options.map(option)}</select></div>
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
  if (token_id === null) return html`<span class="faint">at the command line</span>`;
  return looksLikeTokenId(token_id) ? html`<a href="/tokens#${token_id}">${literal(token_id)}</a>` : literal(token_id);
}

function row(entry: RecordedEntry, now: number): Markup {
  const { sequence, at, address } = entry;
  return html`<tr>
    <td>${time(at, now)}</td>
    <td>${sentence(entry)}
      <details><summary>Details<span class="visually-hidden"> of entry ${sequence}</span></summary>${json(entry)}</details></td>
    <td data-label="Token">${whose(entry)}</td>
    <td data-label="Address">${address === null ? html`<span class="faint">none</span>` : literal(address)}</td>
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
    return empty('There is nothing older.', html`<a href="${addressOf(filter)}">Go to the newest</a>`);
  return empty('No entry matches.', html`<a href="/audit">Show all that was recorded</a>`);
}

function beforeIn(text: string): number | undefined {
  if (text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalid({ pointer: '#/before', detail: 'It is not a page of this list. Begin again without it.' });
}

export function addAuditPage(app: App, parts: DashboardParts): void {
  const show = (call: PageCall, main: Markup, status?: number) =>
    showPage(call, { title: 'Audit', place: { section: 'audit' }, main, styles: ['audit.css', 'cards.css'] }, status);

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
    // What was typed may be a secret, and is not repeated.
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
