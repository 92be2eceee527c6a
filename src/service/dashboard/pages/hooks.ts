import { html } from 'hono/html';
import { formatNumber } from '../../../interface/format.ts';
import { redactedUrl } from '../../webhooks/deliver.ts';
import { type HookOverview, listHooks } from '../../webhooks/hooks.ts';
import { branchList, droppedText, formatNames, goneText, hookState } from '../elements/hook.ts';
import { htmlTable, type Row } from '../elements/list.ts';
import { empty, faint, literals, type Markup, urlText, userText } from '../elements/text.ts';
import { addWorkspacePage, type PageCall, type Site } from '../frame/page.ts';

/** Webhooks are registered and removed over the API and the command; the page shows how they do. */
export function addHookListPage(site: Site): void {
  addWorkspacePage(site, { path: '/hooks', access: 'hooks:write' }, async (call) => {
    const hooks = await listHooks(site.storage.read, call.workspace.id);
    return { title: 'Webhooks', main: hooks.length === 0 ? noHooks : hookTable(call, hooks) };
  });
}

const noHooks = empty(
  'This workspace has no webhooks yet.',
  html`A webhook notifies a build server or a program of yours when a sync ends or a lock changes hands. A workflow registers one with
    <code>operation: register-hook</code>.`,
);

const hookTable = (call: PageCall, hooks: readonly HookOverview[]): Markup => html`
  ${htmlTable(
    hooks.map((hook) => row(call, hook)),
    'hooks',
  )}
  <p class="hint">URLs are shown without their query, which may be secret.</p>`;

function row({ now }: PageCall, hook: HookOverview): Row {
  const { active, dropped_events: dropped } = hook;
  const hints = [...(active ? [] : [goneText]), ...(dropped === 0 ? [] : [droppedText(dropped)])];
  return [
    ['URL', html`${urlText(redactedUrl(hook))}<div class="faint">${formatNames[hook.format]}</div>`, 'head'],
    ['State', html`${hookState(hook, now)}${hints.map((hint) => html`<p class="hint">${hint}</p>`)}`],
    ['Events', literals(hook.events)],
    ['Branches', branchList(hook)],
    ['Pending', count(hook.pending_deliveries), 'number'],
    ['Last error', hook.last_error === null ? faint('none') : userText(hook.last_error)],
  ];
}

const count = (number: number): Markup => (number === 0 ? faint('0') : html`<strong>${formatNumber(number)}</strong>`);
