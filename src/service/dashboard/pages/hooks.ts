import { html } from 'hono/html';
import { formatNumber } from '../../../interface/format.ts';
import { isSyncEvent } from '../../outbox/event.ts';
import { redactedUrl } from '../../webhooks/formats.ts';
import { type HookOverview, listHooks } from '../../webhooks/hooks.ts';
import {
  empty,
  faint,
  htmlTable,
  literal,
  literals,
  type Markup,
  type Row,
  time,
  userText,
} from '../elements/markup.ts';
import { addWorkspacePage, type Site } from '../frame/page.ts';

/** Shows the state of webhooks. They are registered and removed with the API or the command. */
export function addHooksPage(site: Site): void {
  addWorkspacePage(site, '/hooks', 'hooks:write', async ({ workspace, now }) => {
    const hooks = await listHooks(site.storage.read, workspace.id);
    const table = html`${htmlTable(hooks.map((hook) => row(hook, now)))}
      <p class="hint">URLs are shown without their query, which may be secret.</p>`;
    return { title: 'Webhooks', main: hooks.length === 0 ? noHooks : table };
  });
}

const noHooks = empty(
  'This workspace has no webhooks yet.',
  html`A webhook notifies a build server or one of your programs when a sync ends or a lock changes hands. A workflow registers one with
    <code>operation: register-hook</code>.`,
);

function row(hook: HookOverview, now: number): Row {
  const { format, branches, events, pending_deliveries: pending, last_error } = hook;
  const all = branches === null ? 'all' : literals(branches);
  return [
    ['URL', html`${literal(redactedUrl(hook))}<div class="faint">${format}</div>`, 'head'],
    ['State', hookState(hook, now)],
    ['Events', literals(events)],
    ['Branches', events.some(isSyncEvent) ? all : faint('none (locks only)')],
    ['Pending', formatNumber(pending)],
    ['Last error', last_error === null ? faint('none') : userText(last_error)],
  ];
}

function hookState({ active, failing_since: since, dropped_events: dropped }: HookOverview, now: number): Markup {
  const lost =
    dropped === 0
      ? ''
      : html`<p class="hint">${formatNumber(dropped)} dropped: too many were waiting, or one change caused too many.</p>`;
  if (!active) {
    return html`<span class="state gone">ended by the receiver</span>
      <p class="hint">It responded with 410 (Gone). Register it again to resume deliveries.</p>${lost}`;
  }
  return since === null
    ? html`<span class="state active">active</span>${lost}`
    : html`<span class="state failing">failing</span> since ${time(since, now)}${lost}`;
}
