import { html } from 'hono/html';
import type { LockPath } from '../../../interface/lock-path.ts';
import { grants } from '../../../interface/scopes.ts';
import type { ApiResponse } from '../../contract/response.ts';
import { type App, actorOf } from '../../http/context.ts';
import { type FormField, linesInput, postForm } from '../elements/fields.ts';
import { lockFacts } from '../elements/lock.ts';
import { releaseAddress } from '../elements/lock-list.ts';
import type { Markup } from '../elements/text.ts';
import { type ActionCall, addAction, addPage, type PageCall } from '../frame/page.ts';
import type { DashboardParts } from '../frame/parts.ts';
import {
  backLink,
  createLockPages,
  type EnteredText,
  type LockAction,
  type LockContext,
  lockFields,
  type ReleasableLock,
  withNotice,
} from './one-lock.ts';

const route = { path: '/workspaces/:id/locks/release', access: 'locks:write' } as const;

const change: LockAction = {
  title: 'Release a lock',
  nothingDone: 'Nothing was released.',
  absent: 'absent',
  whoMay: html`Only its holder, or a token with the scope <code>locks:admin</code>, can release it.`,
  isAllowed: (way) => way !== 'none',
  again: (workspace, lock) => html`<a href="${releaseAddress(workspace, lock)}">Release the new lock</a>`,
};

export function addReleasePages(app: App, parts: DashboardParts): void {
  const { storage, locks } = parts;
  const pages = createLockPages(storage, change);

  addPage(app, parts, route, (call) =>
    pages.ask(call, (context, found) => confirmation(call, context, found, { text: '' })),
  );

  async function release(call: ActionCall, context: LockContext, path: LockPath): Promise<ApiResponse> {
    const workspace = context.workspace.id;
    const { c, form, bearer } = call;
    const id = form.text('lock');
    const reason = form.text('reason').trim();
    const problem = reasonProblem(reason);
    const admin = grants(bearer.scopes, 'locks:admin');
    const outcome = await locks.release({
      workspace,
      path,
      match: (held) => held === id,
      releaser: { ...actorOf(c), owner: bearer.owner, force: admin && problem === undefined, reason },
    });
    if (outcome.kind !== 'released') {
      return pages.refuse(call, context, path, (found) =>
        confirmation(call, context, found, { text: reason, problem }),
      );
    }
    return withNotice(context.back, 'released');
  }

  addAction(app, parts, route, (call) => pages.act(call, (context, path) => release(call, context, path)));
}

const maxReasonLength = 500;

export function reasonProblem(reason: string): string | undefined {
  if (reason === '') return 'Enter a reason: the holder of the lock will ask.';
  return reason.length > maxReasonLength ? `It must not be longer than ${maxReasonLength} characters.` : undefined;
}

function confirmation(call: PageCall, context: LockContext, found: ReleasableLock, reason: EnteredText): Markup {
  const { lock, way } = found;
  const force = way === 'force';
  return html`
    <p class="warning">${warningOf(found)}</p>
    ${lockFacts(lock, call.now)}
    ${postForm({
      action: `/workspaces/${context.workspace.id}/locks/release`,
      hidden: lockFields(context, lock),
      fields: force ? [reasonField(reason.text)] : [],
      errors: { reason: reason.problem },
      button: force ? 'Force release' : 'Release',
      kind: 'danger',
      autofocus: !force,
      cancel: backLink(context, 'Cancel'),
    })}`;
}

export const reasonField = (value: string): FormField =>
  linesInput('reason', 'Reason', value, {
    hint: 'It is recorded in the audit, with your name.',
    rows: 3,
    more: html` maxlength="${maxReasonLength}" required autofocus`,
  });

function warningOf({ lock, way }: ReleasableLock): string {
  if (way === 'force') {
    return 'Someone else holds this lock. A job that is still running relies on it and may overwrite changes that others make now. Make sure the run has ended.';
  }
  return lock.origin === null
    ? 'This lock is yours. Once it is released, others can lock the file: push your changes first.'
    : 'This lock is yours. A job that is still running relies on it. Make sure the run has ended.';
}
