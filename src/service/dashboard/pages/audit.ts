import { html } from 'hono/html';
import { accepted } from '../../../interface/parsed.ts';
import { type AuditAction, auditActions, isAuditAction } from '../../audit/audit.ts';
import { parseDay, parseEndOfDay } from '../../audit/day.ts';
import { auditFormats, exportAudit } from '../../audit/export-audit.ts';
import { type AuditQuery, readAudit } from '../../audit/read-audit.ts';
import { invalid } from '../../contract/problem.ts';
import type { RecordedEntry } from '../../outbox/event.ts';
import { parseAuditActor } from '../../tokens/audit-actor.ts';
import { looksLikeTokenId } from '../../tokens/secret.ts';
import { parseWorkspaceId } from '../../workspaces/workspace-id.ts';
import { dayInputs, filterForm, selection, textInput } from '../elements/fields.ts';
import { link, listPage, positionIn, type Row, sequenceIn, urlWith } from '../elements/list.ts';
import {
  empty,
  faint,
  literal,
  literals,
  type Markup,
  pointInTime,
  time,
  userText,
  verbatim,
} from '../elements/text.ts';
import { download, readPart } from '../frame/download.ts';
import { allValues, type FormResult, optional } from '../frame/form.ts';
import { addPage, queryOf, type Site } from '../frame/page.ts';

const entriesOfPage = 50;
const entriesPerRead = 1_000;
const filterNames = ['action', 'actor', 'workspace', 'from', 'to'] as const;

/** Filters as entered in the form; empty for all. */
type Filter = Readonly<Record<(typeof filterNames)[number], string>>;

export function addAuditPage(site: Site): void {
  addPage(site, { path: '/audit', access: 'admin' }, async (call) => {
    const before = positionIn(queryOf(call, 'before').before, sequenceIn);
    const { filter, read } = readFilter(queryOf(call, ...filterNames));
    if (!read.ok) return { title: 'Audit', main: auditFilter(filter, read.errors), status: 422 };
    const { entries, next } = await readAudit(site.storage, { ...read.value, before, limit: entriesOfPage });
    const actions = html`
      <a class="button" href="${urlWith('/audit/entries.csv', filter)}" download>Download as CSV</a>
      <a class="button" href="${urlWith('/audit/entries.jsonl', filter)}" download>as JSON lines</a>`;
    const page = listPage({
      rows: entries.map((entry) => row(entry, call.now)),
      kind: 'audit',
      isLater: before !== undefined,
      next: next?.toString(),
      urlOf: (before) => urlWith('/audit', { ...filter, before }),
      none: empty('No entry matches.', link('/audit', 'Show all entries')),
    });
    return { title: 'Audit', actions, main: html`${auditFilter(filter)}${page}` };
  });

  for (const format of ['csv', 'jsonl'] as const) {
    addPage(site, { path: `/audit/entries.${format}`, access: 'admin' }, async (call) => {
      const { read } = readFilter(queryOf(call, ...filterNames));
      if (!read.ok) throw invalid({ pointer: '#', detail: Object.values(read.errors).join(' ') });
      return download(site, call, {
        filename: `audit.${format}`,
        mediaType: auditFormats[format],
        lines: exportAudit(format, (before) =>
          readPart(site, call, () => readAudit(site.storage, { ...read.value, before, limit: entriesPerRead })),
        ),
      });
    });
  }
}

function auditFilter(filter: Filter, errors: Partial<Filter> = {}): Markup {
  const { action } = filter;
  const actions = action === '' || isAuditAction(action) ? auditActions : [...auditActions, action];
  return filterForm({
    action: '/audit',
    values: filter,
    fields: [
      selection('action', 'Action', [['', 'all actions'], ...actions.map((each) => [each, each] as const)]),
      textInput('actor', 'Who, by name or token id', { type: 'search' }),
      textInput('workspace', 'Workspace', { type: 'search' }),
      ...dayInputs,
    ],
    errors,
    showAll: filterNames.every((name) => filter[name] === '') ? undefined : 'Show all',
  });
}

const noFilter: Filter = { action: '', actor: '', workspace: '', from: '', to: '' };

type ReadFilter = FormResult<Omit<AuditQuery, 'limit'>, keyof Filter>;

/** The filter to show again, and as a query. */
function readFilter(entered: Filter): { readonly filter: Filter; readonly read: ReadFilter } {
  const action = canBeAction(entered.action) ? entered.action : '';
  const read = allValues({
    action: accepted(action === '' ? undefined : action),
    actor: optional(entered.actor, parseAuditActor),
    workspace: optional(entered.workspace, parseWorkspaceId),
    from: optional(entered.from, parseDay),
    to: optional(entered.to, parseEndOfDay),
  });
  // An invalid value may be a secret: do not show it again.
  if (!read.ok) return { filter: { ...noFilter, action }, read };
  const { to, ...query } = read.value;
  return { filter: { ...entered, action }, read: { ok: true, value: { ...query, until: to } } };
}

/** Also accepts actions that only other versions of the service record. */
const canBeAction = (text: string): boolean => /^[\w.-]{1,64}$/.test(text);

function row(entry: RecordedEntry, now: number): Row {
  const { sequence, at, address } = entry;
  const details = html`<details><summary>Details<span class="visually-hidden"> of entry ${sequence}</span></summary>${verbatim(JSON.stringify(entry, null, 2))}</details>`;
  return [
    ['When', time(at, now)],
    ['What', html`${sentence(entry)} ${details}`],
    ['Token', tokenText(entry)],
    ['Address', address === null ? faint('none') : literal(address)],
  ];
}

type Detail = RecordedEntry['detail'];

const textIn = (detail: Detail, name: string): string | undefined => {
  const value = detail[name];
  return typeof value === 'string' ? value : undefined;
};

/** A field of an entry. Entries never change, so those of earlier versions may lack it. */
const named = (detail: Detail, name: string): Markup => literal(textIn(detail, name) ?? 'unknown');

const listIn = (detail: Detail, name: string): readonly string[] => {
  const value = detail[name];
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
};

const hook = (detail: Detail): Markup =>
  html`the webhook to ${named(detail, 'origin')} in ${named(detail, 'workspace')}`;

const mirror = (detail: Detail): Markup =>
  html`the workspace ${named(detail, 'workspace')}, a mirror of ${named(detail, 'remote')}`;

const pool = (detail: Detail): Markup => html`the pool ${named(detail, 'pool')} of ${named(detail, 'workspace')}`;

const trusted = (detail: Detail): Markup =>
  html`jobs of ${named(detail, 'issuer')}, whose locks belong to ${named(detail, 'owner')}`;

/** Predicates of sentences that start with the actor. */
const predicates: Readonly<Record<AuditAction, (detail: Detail) => Markup>> = {
  'session.signed-in': (detail) =>
    html`signed in with ${textIn(detail, 'by') === 'link' ? 'the first-start link' : 'a token'}`,
  'session.signed-out': () => html`signed out`,
  'token.created': tokenCreated,
  'token.rotated': tokenRotated,
  'token.revoked': (detail) => html`revoked the token ${named(detail, 'name')}`,
  'token.exchanged': (detail) => html`authenticated by OIDC as ${named(detail, 'owner')}`,
  'lock.force-released': forceReleased,
  'hook.registered': (detail) => html`registered ${hook(detail)}`,
  'hook.replaced': (detail) => html`changed ${hook(detail)}`,
  'hook.paused': (detail) => html`paused ${hook(detail)}`,
  'hook.resumed': (detail) => html`resumed ${hook(detail)}`,
  'hook.tested': (detail) => html`sent a test to ${hook(detail)}`,
  'hook.removed': (detail) => html`removed ${hook(detail)}`,
  'delivery.sent-again': (detail) => html`sent a delivery of ${hook(detail)} again`,
  'workspace.added': (detail) => html`added ${mirror(detail)}`,
  'workspace.updated': (detail) =>
    textIn(detail, 'remote') === undefined
      ? html`changed the settings of ${named(detail, 'workspace')}`
      : html`changed ${mirror(detail)}`,
  'workspace.removed': (detail) => html`removed ${mirror(detail)}`,
  'push-secret.created': (detail) => html`created a secret for push events of ${named(detail, 'workspace')}`,
  'pool.added': (detail) => html`added ${pool(detail)}`,
  'pool.updated': (detail) => html`changed ${pool(detail)}`,
  'pool.removed': (detail) => html`removed ${pool(detail)}`,
  'trust.added': (detail) => html`added a trust rule for ${trusted(detail)}`,
  'trust.removed': (detail) => html`removed the trust rule for ${trusted(detail)}`,
  'backup.restored': (detail) => html`restored the backup of ${pointInTime(textIn(detail, 'taken_at') ?? '')}`,
  'fences.raised': () => html`raised the fences of all workspaces`,
  'audit.removed': (detail) => html`removed the entries before ${pointInTime(textIn(detail, 'before') ?? '')}`,
};

/** An entry as a sentence. Unknown actions, recorded by other versions of the service, are shown unchanged. */
export const sentence = ({ actor, action, detail }: RecordedEntry): Markup =>
  html`<strong>${userText(actor)}</strong> ${isAuditAction(action) ? predicates[action](detail) : html`did ${literal(action)}`}`;

function tokenText({ token_id }: RecordedEntry): Markup {
  if (token_id === null) return faint('at the command line');
  return looksLikeTokenId(token_id) ? html`<a href="/tokens#${token_id}">${literal(token_id)}</a>` : literal(token_id);
}

function tokenCreated(detail: Detail): Markup {
  const list = (name: string) => literals(listIn(detail, name));
  const limit = Array.isArray(detail['workspaces']) ? html`, only in ${list('workspaces')}` : '';
  const owner = textIn(detail, 'owner');
  const ofOwner = owner === undefined || owner === textIn(detail, 'name') ? '' : html` of ${literal(owner)}`;
  return html`created the token ${named(detail, 'name')}${ofOwner} with ${list('scopes')}${limit}`;
}

function tokenRotated(detail: Detail): Markup {
  const until = textIn(detail, 'old_valid_until');
  const end = until === undefined ? '' : html`; the old secret ends at ${pointInTime(until)}`;
  return html`rotated the token ${named(detail, 'name')}${end}`;
}

function forceReleased(detail: Detail): Markup {
  const reason = textIn(detail, 'reason');
  return html`released the lock on ${named(detail, 'path')} in ${named(detail, 'workspace')}, held by
    ${named(detail, 'owner')}, by force${reason === undefined ? '' : html`: “${userText(reason)}”`}`;
}
