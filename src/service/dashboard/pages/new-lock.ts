import { html } from 'hono/html';
import { formatDuration } from '../../../interface/duration.ts';
import type { LockPath } from '../../../interface/lock-path.ts';
import { problems as kindsOfProblems } from '../../../interface/problem.ts';
import { Refusal } from '../../contract/problem.ts';
import { type ApiResponse, jsonApiResponse } from '../../contract/response.ts';
import { requireFreeDisk } from '../../http/access.ts';
import type { App } from '../../http/context.ts';
import { lfsLockTtl } from '../../workspaces/lfs-lock-ttl.ts';
import type { FoundWorkspace } from '../../workspaces/workspaces.ts';
import { safeText } from '../assets/text.js';
import { listAddress } from '../elements/lock-list.ts';
import type { Markup } from '../elements/text.ts';
import { showPage } from '../frame/layout.ts';
import { addAction, addPage, keyOfForm, type PageCall, queryOf, requestedWorkspace } from '../frame/page.ts';
import type { DashboardParts } from '../frame/parts.ts';
import { type EnteredLock, enteredLock, heldLock, type LockErrors, newLockForm, readNewLock } from './new-lock-form.ts';
import { withNotice } from './one-lock.ts';

const access = 'locks:write';

export function addNewLockPages(app: App, parts: DashboardParts): void {
  const { storage, suggestPaths, remoteMemory, locks } = parts;

  interface Shown {
    readonly workspace: FoundWorkspace;
    readonly entered: EnteredLock;
    readonly errors?: LockErrors;
    readonly refusal?: Markup;
    readonly status?: number;
  }

  async function show(call: PageCall, { workspace, status, ...shown }: Shown): Promise<ApiResponse> {
    const isMirrored = await suggestPaths.isMirrored(workspace);
    // Suggestions come from the default branch, whose name is known only after the remote was asked.
    if (isMirrored && remoteMemory.known(workspace).listing === undefined) remoteMemory.askSoon(workspace);
    const form = { errors: {}, refusal: '', ...shown, workspace: workspace.id, isMirrored };
    return showPage(call, newLockForm(call, form), status);
  }

  /** Shows the form again, as entered, with the conflicting lock. */
  function showRefusal(
    call: PageCall,
    { workspace, entered, path }: Shown & { readonly path: LockPath },
    { problem, message, extras }: Refusal,
  ): Promise<ApiResponse> {
    const shown = { workspace, entered, status: kindsOfProblems[problem].status };
    if (extras.lock !== undefined) {
      return show(call, { ...shown, refusal: heldLock(call, workspace.id, path, extras.lock) });
    }
    const ofPath = extras.errors?.find(({ pointer }) => pointer === '#/path');
    if (ofPath !== undefined) return show(call, { ...shown, errors: { path: ofPath.detail } });
    const text = html`<p class="warning" role="alert"><strong>Nothing was locked.</strong> ${safeText(message)}</p>`;
    return show(call, { ...shown, refusal: text });
  }

  addPage(app, parts, { path: '/workspaces/:id/locks/new', access }, async (call) => {
    const workspace = await requestedWorkspace(call, storage);
    const { path } = queryOf(call, 'path');
    return show(call, { workspace, entered: { path, duration: formatDuration(lfsLockTtl(workspace)), note: '' } });
  });

  addPage(app, parts, { path: '/workspaces/:id/locks/paths', access }, async (call) => {
    const workspace = await requestedWorkspace(call, storage);
    return jsonApiResponse(200, { paths: await suggestPaths.suggest(workspace, queryOf(call, 'start').start) });
  });

  addAction(app, parts, { path: '/workspaces/:id/locks', access }, async (call) => {
    const workspace = await requestedWorkspace(call, storage);
    const entered = enteredLock(call.form);
    const read = readNewLock(entered);
    if (!read.ok) return show(call, { workspace, entered, errors: read.errors, status: 422 });
    const { path, duration: ttl, note } = read.value;
    try {
      requireFreeDisk(parts);
      const { headers } = await locks.acquire(keyOfForm(call, entered), {
        workspace: workspace.id,
        path,
        type: 'exclusive',
        ttl,
        note,
        bearer: call.bearer,
        // The Referer would be a page of this dashboard, not a run.
        origin: null,
      });
      const repeated = headers['idempotency-replayed'] !== undefined;
      return withNotice(listAddress(workspace.id, { path }), repeated ? 'sent-twice' : 'taken');
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.problem === 'request-in-progress') return withNotice(listAddress(workspace.id, { path }), 'sent-twice');
      return showRefusal(call, { workspace, entered, path }, error);
    }
  });
}
