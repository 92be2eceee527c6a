import { html } from 'hono/html';
import { formatDuration } from '../../../interface/duration.ts';
import { maxNoteLength, parseNote } from '../../../interface/lock-note.ts';
import { canonicalLockPath, type LockPath } from '../../../interface/lock-path.ts';
import { problems as kindsOfProblems } from '../../../interface/problem.ts';
import type { Lock } from '../../../interface/resources.ts';
import { parseTtl } from '../../../interface/ttl.ts';
import { Refusal } from '../../contract/problem.ts';
import { type ApiResponse, jsonApiResponse } from '../../contract/response.ts';
import { requireFreeDisk } from '../../http/access.ts';
import type { App } from '../../http/context.ts';
import { safeText } from '../../platform/safe-text.ts';
import { lfsLockTtl } from '../../workspaces/lfs-lock-ttl.ts';
import type { FoundWorkspace } from '../../workspaces/workspaces.ts';
import { postForm, textInput } from '../elements/fields.ts';
import { durationField, lockFacts } from '../elements/lock.ts';
import { extendAddress, listAddress } from '../elements/lock-list.ts';
import { literal, type Markup } from '../elements/text.ts';
import { newFormId } from '../frame/form.ts';
import { allValues, type EnteredTexts, enteredTexts, type FieldErrors } from '../frame/form-values.ts';
import { inWorkspace, showPage } from '../frame/layout.ts';
import { addAction, addPage, keyOfForm, type PageCall, queryOf, requestedWorkspace } from '../frame/page.ts';
import type { DashboardParts } from '../frame/parts.ts';
import { backLink, withNotice } from './one-lock.ts';

const names = ['path', 'duration', 'note'] as const;

type EnteredLock = EnteredTexts<(typeof names)[number]>;

type LockErrors = FieldErrors<(typeof names)[number]>;

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
    const main = html`${shown.refusal ?? ''}
      ${lockForm(call, workspace.id, shown.entered, shown.errors ?? {}, isMirrored)}`;
    const view = { title: 'Lock a file', location: inWorkspace(workspace.id, 'locks'), main };
    return showPage(call, { ...view, ...(isMirrored && { script: 'new-lock.js' }) }, status);
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
    const entered = enteredTexts(call.form, names);
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
        untilMerged: true,
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

function lockForm(
  call: PageCall,
  workspace: string,
  entered: EnteredLock,
  errors: LockErrors,
  isMirrored: boolean,
): Markup {
  const completion = isMirrored ? html` list="paths" data-suggestions="/workspaces/${workspace}/locks/paths"` : '';
  const form = postForm({
    action: `/workspaces/${workspace}/locks`,
    hidden: { form_id: newFormId(call) },
    fields: [
      textInput('path', 'Path', entered.path, {
        hint: html`As in the repository, such as ${literal('Content/Hero.uasset')}. Case-sensitive. The file does not have to exist yet.`,
        more: html` required autofocus${completion}`,
      }),
      durationField('For how long', entered.duration),
      textInput('note', 'Note', entered.note, {
        hint: `For those who find the file locked. One line of up to ${maxNoteLength} characters; may be empty.`,
      }),
    ],
    errors,
    nothingDone: 'Nothing was locked.',
    button: 'Lock',
    cancel: backLink({ back: listAddress(workspace) }, 'Cancel'),
  });
  return html`${form}${isMirrored ? html`<datalist id="paths"></datalist>` : ''}`;
}

export const readNewLock = ({ path, duration, note }: EnteredLock) =>
  allValues({
    path: canonicalLockPath(path.trim()),
    duration: parseTtl(duration.trim()),
    note: parseNote(note),
  });

/** Holder of the path. */
function heldLock({ bearer, now }: PageCall, workspace: string, asked: LockPath, lock: Lock): Markup {
  const own = lock.owner === bearer.owner;
  const sameFile = asked === lock.path ? '' : html` On Windows, ${literal(asked)} is the same file.`;
  return html`<p class="warning" role="alert"><strong>Nothing was locked.</strong> ${
    own
      ? html`You hold this lock already. <a href="${extendAddress(workspace, lock)}">Extend it</a>`
      : html`Someone else holds this lock. <a href="${listAddress(workspace, { path: lock.path })}">Watch it</a> to see when it is free.`
  }${sameFile}</p>
  ${lockFacts(lock, now)}`;
}
