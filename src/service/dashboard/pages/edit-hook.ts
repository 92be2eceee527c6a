import { actorOf } from '../../http/context.ts';
import type { HookRow } from '../../outbox/hook-row.ts';
import { editHook, headersOf, hookOf } from '../../webhooks/hooks.ts';
import { requireAdminForAudit } from '../../webhooks/registration.ts';
import { addWorkspaceAction, addWorkspacePage, type Site } from '../frame/page.ts';
import { addressedHook } from './hooks.ts';
import { type EnteredHook, enteredHook, newHookForm, readNewHook } from './new-hook-form.ts';

const route = { path: '/hooks/:hook/edit', access: 'hooks:write' } as const;

/** The URL cannot be changed: otherwise, the person who edits it could send the stored secret and headers anywhere. */
export function addEditHookPages(site: Site): void {
  const { storage, onHooksChanged } = site;

  addWorkspacePage(site, route, async (call) => {
    const hook = await addressedHook(call, storage);
    return newHookForm(call, storedHook(hook), {}, hook);
  });

  addWorkspaceAction(site, route, async (call) => {
    const workspace = call.workspace.id;
    const hook = await addressedHook(call, storage);
    const entered = { ...enteredHook(call.form), url: hook.url };
    const read = readNewHook({ ...entered, headers: withStoredValues(entered.headers, hook) });
    if (!read.ok) return { ...newHookForm(call, entered, read.errors, hook), status: 422 };
    const { secret = null, ...request } = read.value;
    requireAdminForAudit(request.events, call.bearer.scopes);
    const change = { ...request, secret, workspace, id: hook.id, actor: actorOf(call.c) };
    await storage.commit({ workspace }, (db) => editHook(db, storage.now, change));
    onHooksChanged();
    return { to: `/workspaces/${workspace}/hooks/${hook.id}?notice=edited` };
  });
}

function storedHook(row: HookRow): EnteredHook {
  const { url, events, branches, format, header_names } = hookOf(row);
  const headers = header_names.map((name) => `${name}: `).join('\n');
  return { url, events, branches: (branches ?? []).join('\n'), format, secret: '', headers };
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
