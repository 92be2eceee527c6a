import { html } from 'hono/html';
import { formatDuration } from '../../../interface/duration.ts';
import { maxNoteLength, parseNote } from '../../../interface/lock-note.ts';
import { type LockPath, parseLockPath } from '../../../interface/lock-path.ts';
import { problems } from '../../../interface/problem.ts';
import { parseTtl } from '../../../interface/ttl.ts';
import { invalid, Refusal } from '../../contract/problem.ts';
import type { ApiResponse } from '../../contract/response.ts';
import { requireFreeDisk } from '../../http/access.ts';
import type { App } from '../../http/context.ts';
import { lockOf } from '../../locks/lock-row.ts';
import { safeText } from '../../platform/safe-text.ts';
import { lfsLockTtl } from '../../workspaces/lfs-lock-ttl.ts';
import type { FoundWorkspace } from '../../workspaces/workspaces.ts';
import { postForm, textInput } from '../elements/fields.ts';
import { durationField, lockFacts } from '../elements/lock.ts';
import { pathAddress } from '../elements/lock-list.ts';
import { literal, type Markup } from '../elements/text.ts';
import { allValues, type EnteredTexts, enteredTexts, type FieldErrors } from '../frame/form-values.ts';
import { inWorkspace, showPage } from '../frame/layout.ts';
import { addAction, addPage, type PageCall, queryOf, requestedWorkspace } from '../frame/page.ts';
import type { DashboardParts } from '../frame/parts.ts';
import { seeOther } from '../frame/response.ts';
import { backLink } from './one-lock.ts';

const names = ['duration', 'note'] as const;

interface Shown {
  readonly workspace: FoundWorkspace;
  readonly path: LockPath;
  readonly entered: EnteredTexts<(typeof names)[number]>;
  readonly errors?: FieldErrors<(typeof names)[number]>;
  readonly refusal?: Markup;
  readonly status?: number;
}

const route = { path: '/workspaces/:id/locks/ask', access: 'locks:write' } as const;

/** Asks for a lock that someone else holds, and withdraws the request. */
export function addAskPages(app: App, parts: DashboardParts): void {
  const { storage, locks } = parts;

  async function show(call: PageCall, { workspace, path, status, ...shown }: Shown): Promise<ApiResponse> {
    const held = await locks.find({ workspace: workspace.id, path });
    const main = html`${shown.refusal ?? ''}
      ${held?.live ? lockFacts(lockOf(held), call.now) : html`<p>Nobody holds a lock on ${literal(path)}.</p>`}
      ${askForm(workspace.id, path, shown)}`;
    return showPage(call, { title: 'Ask for a lock', location: inWorkspace(workspace.id, 'locks'), main }, status);
  }

  addPage(app, parts, route, async (call) => {
    const workspace = await requestedWorkspace(call, storage);
    const path = pathIn(queryOf(call, 'path').path);
    return show(call, { workspace, path, entered: { duration: formatDuration(lfsLockTtl(workspace)), note: '' } });
  });

  addAction(app, parts, route, async (call) => {
    const workspace = await requestedWorkspace(call, storage);
    const path = pathIn(call.form.text('path'));
    const entered = enteredTexts(call.form, names);
    const read = allValues({ duration: parseTtl(entered.duration.trim()), note: parseNote(entered.note) });
    if (!read.ok) return show(call, { workspace, path, entered, errors: read.errors, status: 422 });
    const { duration: ttl, note } = read.value;
    try {
      requireFreeDisk(parts);
      // Without a key: asking again keeps the place.
      await locks.askFor(undefined, { workspace: workspace.id, path, bearer: call.bearer, note, ttl });
      return seeOther(pathAddress(workspace.id, path));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const refusal = html`<p class="warning" role="alert">${safeText(error.message)}</p>`;
      return show(call, { workspace, path, entered, refusal, status: problems[error.problem].status });
    }
  });

  addAction(app, parts, { ...route, path: '/workspaces/:id/locks/withdraw' }, async (call) => {
    const { id: workspace } = await requestedWorkspace(call, storage);
    const path = pathIn(call.form.text('path'));
    // The page of the path shows the result, also if there was nothing to withdraw.
    await locks.withdraw({ workspace, path, bearer: call.bearer });
    return seeOther(pathAddress(workspace, path));
  });
}

function pathIn(text: string): LockPath {
  const path = parseLockPath(text);
  if (!path.ok) throw invalid({ pointer: '#/path', detail: path.reason });
  return path.value;
}

const askForm = (workspace: string, path: LockPath, { entered, errors = {} }: Pick<Shown, 'entered' | 'errors'>) =>
  postForm({
    action: `/workspaces/${workspace}/locks/ask`,
    hidden: { path },
    fields: [
      textInput('note', 'Note', entered.note, {
        hint: `For the holder, and for the lock. One line of up to ${maxNoteLength} characters; may be empty.`,
        more: html` autofocus`,
      }),
      durationField('For how long', entered.duration),
    ],
    errors,
    nothingDone: 'You are not in line.',
    button: 'Lock it for me when it is free',
    cancel: backLink({ back: pathAddress(workspace, path) }, 'Cancel'),
  });
