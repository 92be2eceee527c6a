import { html } from 'hono/html';
import type { App } from '../../http/context.ts';
import { shownUrl } from '../../webhooks/delivery-request.ts';
import { type HookOverview, listHooks } from '../../webhooks/hook-overview.ts';
import { droppedInShort, formatNames, hookState, noticeOf, shownBranches } from '../elements/hook.ts';
import { empty, faint, literal, literals, type Markup, userText } from '../elements/text.ts';
import { inWorkspace, showPage } from '../frame/layout.ts';
import { addPage, queryOf, workspaceOf } from '../frame/page.ts';
import type { DashboardParts } from '../frame/parts.ts';

const noHooks = (workspace: string): Markup =>
  empty(
    'This workspace has no webhooks yet.',
    html`A webhook tells a build server or a program of yours when a sync ends or a lock changes hands.
      <a href="/workspaces/${workspace}/hooks/new">Add one</a>, or let a workflow do it with
      <code>operation: register-hook</code>.`,
  );

/** What to do about the state, if anything. */
function whatToDo({ inactive_why }: HookOverview): Markup | string {
  switch (inactive_why) {
    case 'gone':
      return html`<p class="hint">The receiver answered 410 (Gone). Resume the webhook if that has changed, or remove it.</p>`;
    case 'paused':
      return html`<p class="hint">Events are not queued for it until it is resumed.</p>`;
    case null:
      return '';
  }
}

const count = (number: number): Markup =>
  number === 0 ? faint('0') : html`<strong>${number.toLocaleString('en-US')}</strong>`;

function row(workspace: string, hook: HookOverview): Markup {
  const page = `/workspaces/${workspace}/hooks/${hook.id}`;
  return html`<tr>
    <th scope="row"><a href="${page}">${literal(shownUrl(hook.url))}</a><div class="faint plain">${formatNames[hook.format]}</div></th>
    <td data-label="State">${hookState(hook.inactive_why)}${whatToDo(hook)}${droppedInShort(hook)}</td>
    <td data-label="Events">${literals(hook.events)}</td>
    <td data-label="Branches">${shownBranches(hook)}</td>
    <td class="number" data-label="Waiting">${count(hook.pending_deliveries)}</td>
    <td class="number" data-label="Failed">${count(hook.failed_deliveries)}</td>
    <td data-label="Last error">${hook.last_error === null ? faint('none') : userText(hook.last_error)}</td>
  </tr>`;
}

const table = (workspace: string, hooks: readonly HookOverview[]): Markup => html`<table class="cards hooks">
    <thead><tr>
      <th scope="col">Address</th>
      <th scope="col">State</th>
      <th scope="col">Events</th>
      <th scope="col">Branches</th>
      <th scope="col" class="number">Waiting</th>
      <th scope="col" class="number">Failed</th>
      <th scope="col">Last error</th>
    </tr></thead>
    <tbody>${hooks.map((hook) => row(workspace, hook))}</tbody>
  </table>
  <p class="hint">“Failed” counts the latest hundred deliveries. Addresses are shown without their query, which may be secret.</p>`;

export function addHookListPage(app: App, parts: DashboardParts): void {
  const { storage } = parts;
  addPage(app, parts, { path: '/workspaces/:id/hooks', access: 'hooks:write' }, async (call) => {
    const { id } = await workspaceOf(call, storage);
    const hooks = await listHooks(storage.read, id);
    const main = html`
      ${noticeOf(queryOf(call, 'notice').notice)}
      <div class="actions"><a class="button primary" href="/workspaces/${id}/hooks/new">Add a webhook</a></div>
      ${hooks.length === 0 ? noHooks(id) : table(id, hooks)}`;
    return showPage(call, {
      title: `Webhooks of ${id}`,
      location: inWorkspace(id, 'hooks'),
      main,
      styles: ['hooks.css'],
    });
  });
}
