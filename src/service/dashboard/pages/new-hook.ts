import { html } from 'hono/html';
import type { HookFormat } from '../../../interface/resources.ts';
import { Refusal } from '../../contract/problem.ts';
import type { ApiResponse } from '../../contract/response.ts';
import type { Hook } from '../../contract/schemas.ts';
import { requireFreeDisk } from '../../http/access.ts';
import { actorOf } from '../../http/context.ts';
import type { HookRow } from '../../outbox/hook-row.ts';
import { redactedUrl } from '../../webhooks/delivery-request.ts';
import { editHook, headersOf, registerHook, toHook } from '../../webhooks/hooks.ts';
import { checkHookUrl, type HookRequest } from '../../webhooks/registration.ts';
import type { WebhookSecret } from '../../webhooks/signature.ts';
import { formatNames, hookUrl } from '../elements/hook.ts';
import { copyable, literal, type Markup } from '../elements/text.ts';
import { type Form, filledIn } from '../frame/form.ts';
import { type Notice, withNotice } from '../frame/notices.ts';
import {
  addWorkspaceAction,
  addWorkspacePage,
  keyOfForm,
  type PageResult,
  type Site,
  type View,
  type WorkspaceActionCall,
} from '../frame/page.ts';
import { seeOther } from '../frame/response.ts';
import { requestedHook } from './hooks.ts';
import { errorsIn, newHookDefaults, newHookForm, readNewHook } from './new-hook-form.ts';

const access = 'hooks:write';

export function addNewHookPages(site: Site): void {
  const { storage, targets, idempotent } = site;

  async function register(call: WorkspaceActionCall, request: HookRequest): Promise<PageResult> {
    const workspace = call.workspace.id;
    const pageOf = (hook: Hook, notice: Notice): ApiResponse =>
      seeOther(withNotice(hookUrl(workspace, hook.id), notice));
    const done: { registered?: Awaited<ReturnType<typeof registerHook>> } = {};
    const { result: repeated } = await idempotent(
      workspace,
      keyOfForm(call, request),
      () => checkHookUrl(request, targets, workspace),
      async (db, allowed) => {
        const registration = { ...allowed, workspace, actor: actorOf(call.c), scopes: call.bearer.scopes };
        const registered = await registerHook(db, storage.now, registration);
        done.registered = registered;
        // The remembered response to repeated requests, which must not contain the secret.
        return pageOf(registered.hook, 'sent-twice');
      },
    );
    const { registered } = done;
    if (registered === undefined) return repeated;
    const { hook, isNew, newSecret } = registered;
    if (newSecret !== null) return createdHookView(workspace, hook, newSecret);
    return pageOf(hook, isNew ? 'registered' : 'replaced');
  }

  addWorkspacePage(site, { path: '/hooks/new', access }, async (call) => {
    return newHookForm(call, newHookDefaults, {});
  });

  addWorkspaceAction(site, { path: '/hooks', access }, async (call) => {
    requireFreeDisk(site);
    const read = readNewHook(call.form);
    if (!read.ok) return { ...newHookForm(call, call.form, read.errors), status: 422 };
    try {
      return await register(call, read.value);
    } catch (error) {
      if (error instanceof Refusal && error.problem === 'request-in-progress') {
        return { to: `/workspaces/${call.workspace.id}/hooks`, notice: 'being-registered' };
      }
      return { ...newHookForm(call, call.form, errorsIn(error)), status: 422 };
    }
  });
}

/** The only page that ever shows the secret of a webhook. */
function createdHookView(workspace: string, hook: Hook, secret: WebhookSecret): View {
  const main = html`
    <p class="notice" role="status">The webhook to ${literal(redactedUrl(hook))} is registered. <strong>Copy its secret now: it is never shown again.</strong></p>
    ${copyable('secret', 'the secret', html`<code id="secret" class="secret">${secret}</code>`)}
    ${secretAdvice(hook.format)}
    <p>If you lose it, register the same URL again with a secret of your own.</p>
    <p><a href="${hookUrl(workspace, hook.id)}">Show the webhook and its deliveries</a></p>`;
  return { title: 'Copy this secret', main };
}

const verification = `import { Webhook } from 'standardwebhooks';

// Throws if the delivery was not signed with the secret. Pass the raw body, not the parsed one.
const event = new Webhook(process.env.WEBHOOK_SECRET).verify(body, headers);`;

function secretAdvice(format: HookFormat): Markup {
  if (format !== 'standard') {
    return html`<p>${formatNames[format]} does not check signatures. You need the secret only if a proxy in between verifies them.</p>`;
  }
  return html`<p>Store it at the receiver as a secret. The libraries of <a href="https://www.standardwebhooks.com/" rel="noreferrer noopener">Standard Webhooks</a>,
      in most languages, verify the header <code>webhook-signature</code> with it.</p>
    ${copyable('verification', 'the lines', html`<pre id="verification">${verification}</pre>`)}`;
}

const route = { path: '/hooks/:hook/edit', access: 'hooks:write' } as const;

/** The URL cannot be changed: otherwise, the person who edits it could send the stored secret and headers anywhere. */
export function addEditHookPages(site: Site): void {
  const { storage } = site;

  addWorkspacePage(site, route, async (call) => {
    const hook = await requestedHook(call, storage);
    return newHookForm(call, storedHook(hook), {}, hook);
  });

  addWorkspaceAction(site, route, async (call) => {
    const workspace = call.workspace.id;
    const hook = await requestedHook(call, storage);
    const headers = withStoredValues(call.form.text('headers'), hook);
    const read = readNewHook(filledIn({ url: hook.url, headers }, call.form));
    if (!read.ok) return { ...newHookForm(call, call.form, read.errors, hook), status: 422 };
    const change = { ...read.value, workspace, id: hook.id, actor: actorOf(call.c), scopes: call.bearer.scopes };
    await storage.commit({ workspace }, (db) => editHook(db, storage.now, change));
    return { to: hookUrl(workspace, hook.id), notice: 'edited' };
  });
}

function storedHook(row: HookRow): Form {
  const { events, branches, format, header_names } = toHook(row);
  const headers = header_names.map((name) => `${name}: `).join('\n');
  return filledIn({ event: events, branches: (branches ?? []).join('\n'), format, headers });
}

/** Fills in the stored values of headers that were entered without a value. */
function withStoredValues(headers: string, row: HookRow): string {
  const stored = new Map(Object.entries(headersOf(row)));
  return headers
    .split('\n')
    .map((line) => {
      const [, name = ''] = /^\s*([^:\s]+)\s*:\s*$/.exec(line) ?? [];
      const value = stored.get(name.toLowerCase());
      return value === undefined ? line : `${name}: ${value}`;
    })
    .join('\n');
}
