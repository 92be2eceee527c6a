import { createHash } from 'node:crypto';
import { requireFreeDisk } from '../../http/access.ts';
import { type HookRequest, registerRequested, targetOf } from '../../http/hook-registration.ts';
import { keyedRequest } from '../../http/idempotency.ts';
import { type App, actorOf } from '../../http/operation.ts';
import type { Answer } from '../../http/problem-answer.ts';
import { Refusal } from '../../http/refusal.ts';
import type { RegisteredHook } from '../../webhooks/hooks.ts';
import { formIdOf } from '../access/form-id.ts';
import { seeOther } from '../answer.ts';
import type { DashboardParts } from '../dashboard.ts';
import { showPage } from '../layout.ts';
import { type ActionCall, addAction, addPage, workspaceOf } from '../page.ts';
import { madeHookView } from './made-hook.ts';
import { newHookForm } from './new-hook-form.ts';
import type { Notice } from './notices.ts';
import { problemsIn, readNewHook, type Typed, typedIn, untouched } from './read-new-hook.ts';

const access = 'hooks:write';

/** The same form with the same content: sent again by a reload, it is not to wake, change or make anything. */
function onceOnly(call: ActionCall, typed: Typed) {
  const content = JSON.stringify([formIdOf(call), typed]);
  return keyedRequest({
    tokenId: call.bearer.id,
    key: `form-${createHash('sha256').update(content).digest('hex')}`,
    method: 'POST',
    path: call.c.req.path,
    ifMatch: undefined,
    body: '',
  });
}

export function addNewHookPages(app: App, parts: DashboardParts): void {
  const { storage, targets, idempotent, onLockEvent } = parts;

  async function register(call: ActionCall, workspace: string, typed: Typed, request: HookRequest): Promise<Answer> {
    const pageOf = ({ hook }: RegisteredHook, notice: Notice): Answer =>
      seeOther(`/workspaces/${workspace}/hooks/${hook.id}?notice=${notice}`);
    const done: { registered?: RegisteredHook } = {};
    const repeated = await idempotent(
      { workspace },
      onceOnly(call, typed),
      () => targetOf(request, targets),
      async (db, target) => {
        const registrant = { workspace, actor: actorOf(call.c) };
        const registered = await registerRequested(db, storage.now, request, target, registrant);
        done.registered = registered;
        // What is remembered of it, and answered to a repetition: never the secret.
        return pageOf(registered, 'registered-before');
      },
    );
    const { registered } = done;
    if (registered === undefined) return repeated;
    onLockEvent();
    if (registered.kind === 'updated') return pageOf(registered, 'replaced');
    if (registered.madeSecret === null) return pageOf(registered, 'registered');
    return showPage(call, madeHookView(workspace, registered.hook, registered.madeSecret));
  }

  addPage(app, parts, { path: '/workspaces/:id/hooks/new', access }, async (call) => {
    const { id } = await workspaceOf(call, storage);
    return showPage(call, newHookForm(call, id, untouched, {}));
  });

  addAction(app, parts, { path: '/workspaces/:id/hooks', access }, async (call) => {
    const { id } = await workspaceOf(call, storage);
    requireFreeDisk(parts);
    const typed = typedIn(call.form);
    const reading = readNewHook(typed);
    if (reading.kind === 'wrong') return showPage(call, newHookForm(call, id, typed, reading.problems), 422);
    try {
      return await register(call, id, typed, reading.request);
    } catch (error) {
      if (error instanceof Refusal && error.problem === 'request-in-progress') {
        return seeOther(`/workspaces/${id}/hooks?notice=being-registered`);
      }
      return showPage(call, newHookForm(call, id, typed, problemsIn(error)), 422);
    }
  });
}
