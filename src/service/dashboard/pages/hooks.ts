import { html } from 'hono/html';
import { formatNumber } from '../../../interface/format.ts';
import { eventsOf, type HookRow } from '../../outbox/hook-row.ts';
import type { Storage } from '../../storage/storage.ts';
import { redactedUrl } from '../../webhooks/delivery-request.ts';
import { findHookOverview, type HookOverview, listHooks } from '../../webhooks/hook-overview.ts';
import { noSuchHook, requireAdminForAudit, requireHook } from '../../webhooks/hooks.ts';
import { noSuchDelivery } from '../../webhooks/send-again.ts';
import { branchList, droppedText, formatNames, hookState, hookUrl, inactiveTexts } from '../elements/hook.ts';
import { htmlTable, type Row } from '../elements/list.ts';
import { empty, faint, literals, type Markup, urlText, userText } from '../elements/text.ts';
import { addWorkspacePage, type PageCall, type Site, type WorkspaceCall } from '../frame/page.ts';

/**
 * The webhook in the URL. Invalid ids are not looked up, because they may contain characters that a database rejects.
 */
export async function requestedHook(call: WorkspaceCall, storage: Storage): Promise<HookRow> {
  const id = idAfter('hook_', call.c.req.param('hook') ?? '');
  if (id === undefined) throw noSuchHook();
  const hook = await requireHook(storage.read, call.workspace.id, id);
  requireAdminForAudit(eventsOf(hook), call.bearer.scopes);
  return hook;
}

/** The webhook in the URL, with the state of its deliveries. */
export async function requestedHookPage(call: WorkspaceCall, storage: Storage) {
  const hook = await requestedHook(call, storage);
  const overview = await findHookOverview(storage.read, call.workspace.id, hook.id);
  if (overview === undefined) throw noSuchHook();
  return { hook, overview, page: hookUrl(call.workspace.id, hook.id) };
}

export function requestedDeliveryId({ c }: PageCall): string {
  const id = idAfter('msg_', c.req.param('delivery') ?? '');
  if (id === undefined) throw noSuchDelivery();
  return id;
}

export function addHookListPage(site: Site): void {
  const { storage } = site;
  addWorkspacePage(site, { path: '/hooks', access: 'hooks:write', isCharged: true }, async (call) => {
    const { id } = call.workspace;
    const hooks = await listHooks(storage.read, id);
    const main = hooks.length === 0 ? noHooks(id) : hookTable(call, id, hooks);
    const actions = html`<a class="button primary" href="/workspaces/${id}/hooks/new">Add a webhook</a>`;
    return { title: 'Webhooks', actions, main };
  });
}

const idAfter = (prefix: string, text: string): string | undefined =>
  text.startsWith(prefix) && /^[0-9a-f-]{36}$/.test(text.slice(prefix.length)) ? text : undefined;

const noHooks = (workspace: string): Markup =>
  empty(
    'This workspace has no webhooks yet.',
    html`A webhook notifies a build server or a program of yours when a sync ends or a lock changes hands.
      <a href="/workspaces/${workspace}/hooks/new">Add one</a>, or let a workflow do it with
      <code>operation: register-hook</code>.`,
  );

const hookTable = (call: PageCall, workspace: string, hooks: readonly HookOverview[]): Markup => html`
  ${htmlTable(
    hooks.map((hook) => row(call, workspace, hook)),
    'hooks',
  )}
  <p class="hint">“Failed” counts the latest hundred deliveries. URLs are shown without their query, which may be secret.</p>`;

function row({ now }: PageCall, workspace: string, hook: HookOverview): Row {
  const page = hookUrl(workspace, hook.id);
  const { inactive_why: reason, dropped_events: dropped } = hook;
  const hints = [
    ...(reason === null ? [] : [inactiveTexts[reason]]),
    ...(dropped === null ? [] : [droppedText(dropped)]),
  ];
  const url = html`<a href="${page}">${urlText(redactedUrl(hook))}</a><div class="faint">${formatNames[hook.format]}</div>`;
  return [
    ['URL', url, 'head'],
    ['State', html`${hookState(hook, now)}${hints.map((hint) => html`<p class="hint">${hint}</p>`)}`],
    ['Events', literals(hook.events)],
    ['Branches', branchList(hook)],
    ['Pending', count(hook.pending_deliveries), 'number'],
    ['Failed', count(hook.failed_deliveries), 'number'],
    ['Last error', hook.last_error === null ? faint('none') : userText(hook.last_error)],
  ];
}

const count = (number: number): Markup => (number === 0 ? faint('0') : html`<strong>${formatNumber(number)}</strong>`);
