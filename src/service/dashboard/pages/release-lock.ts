import { html } from 'hono/html';
import { type LockPath, parseHeldPath } from '../../../interface/lock-path.ts';
import type { Lock } from '../../../interface/resources.ts';
import { grants } from '../../../interface/scopes.ts';
import type { Answer } from '../../contract/answer.ts';
import { type App, actorOf } from '../../http/context.ts';
import { findCommittedLock } from '../../locks/find.ts';
import { lockOf } from '../../locks/lock-row.ts';
import { releaseLock } from '../../locks/release.ts';
import { listAddress, parseListQuery, releaseAddress } from '../assets/lock-list.js';
import { field } from '../elements/fields.ts';
import { lockFacts } from '../elements/lock.ts';
import { empty, literal, type Markup } from '../elements/text.ts';
import { seeOther } from '../frame/answer.ts';
import { formField } from '../frame/form.ts';
import { inWorkspace, showPage } from '../frame/layout.ts';
import { type ActionCall, addAction, addPage, type PageCall, queryOf, workspaceOf } from '../frame/page.ts';
import type { DashboardParts } from '../frame/parts.ts';
import { type ReleaseWay, releaseWay } from './lock-table.ts';

const maxReasonLength = 500;

const route = { path: '/workspaces/:id/locks/release', access: 'locks:write' } as const;

interface ReleaseContext {
  readonly workspace: string;
  /** The search of the list to go back to. */
  readonly back: string;
}

interface Found {
  readonly lock: Lock;
  readonly way: ReleaseWay;
}

interface Reason {
  readonly text: string;
  readonly problem?: string | undefined;
}

/** The search of a lock list, without anything else. */
const listSearch = (search: string): string => {
  const query = parseListQuery(new URLSearchParams(search));
  return new URL(listAddress('any', query), 'http://here.invalid').search;
};

/** The search of the list that led here, to return to the same rows. */
function searchOfReferer(referer: string | undefined, workspace: string): string {
  if (referer === undefined || !URL.canParse(referer)) return '';
  const { pathname, search } = new URL(referer);
  return pathname === listAddress(workspace) ? listSearch(search) : '';
}

/** The list as it was left, perhaps with a notice. */
function listAt(workspace: string, search: string, notice?: 'released' | 'absent'): string {
  const address = listAddress(workspace) + search;
  if (notice === undefined) return address;
  return `${address}${search === '' ? '?' : '&'}notice=${notice}`;
}

const backLink = ({ workspace, back }: ReleaseContext, text: string): Markup =>
  html`<a class="button" href="${listAt(workspace, back)}" data-escape aria-keyshortcuts="Escape">${text}</a>`;

const reasonField = ({ text, problem }: Reason): Markup =>
  field({
    id: 'reason',
    title: 'Reason',
    problem,
    hint: 'It is recorded in the audit, with your name.',
    control: (aria) =>
      html`<textarea id="reason" name="reason" rows="3" maxlength="${maxReasonLength}" required autofocus${aria}>${text}</textarea>`,
  });

function confirmation(call: PageCall, context: ReleaseContext, { lock, way }: Found, reason: Reason): Markup {
  const force = way === 'force';
  return html`
    <p class="warning">${
      force
        ? 'Someone else holds this lock. A job that is still running relies on it and may overwrite changes that others make now. Make sure the run has ended.'
        : 'This lock is yours. A job that is still running relies on it. Make sure the run has ended.'
    }</p>
    ${lockFacts(lock, call.now)}
    <form method="post" action="/workspaces/${context.workspace}/locks/release" class="narrow">
      ${formField(call)}
      <input type="hidden" name="path" value="${lock.path}">
      <input type="hidden" name="lock" value="${lock.id}">
      <input type="hidden" name="back" value="${context.back}">
      ${force ? reasonField(reason) : ''}
      <div class="actions">
        <button class="danger"${force ? '' : html` autofocus`}>${force ? 'Force release' : 'Release'}</button>
        ${backLink(context, 'Cancel')}
      </div>
    </form>`;
}

const notYours = (call: PageCall, context: ReleaseContext, { lock }: Found): Markup => html`
  <p class="warning">Someone else holds this lock. Only its holder, or a token with the scope <code>locks:admin</code>, can release it.</p>
  ${lockFacts(lock, call.now)}
  <div class="actions">${backLink(context, 'Back to the locks')}</div>`;

const changed = (call: PageCall, context: ReleaseContext, { lock, way }: Found): Markup => html`
  <p class="warning" role="alert"><strong>Nothing was released.</strong> The lock you were shown is gone, and the path has a new lock. It is held by:</p>
  ${lockFacts(lock, call.now)}
  <div class="actions">
    ${backLink(context, 'Back to the locks')}
    ${way === 'none' ? '' : html`<a href="${releaseAddress(context.workspace, lock)}">Release the new lock</a>`}
  </div>`;

const gone = (context: ReleaseContext, path: string): Markup => html`
  ${empty(
    'This lock no longer exists.',
    path === ''
      ? 'The address names no path.'
      : html`Nobody holds a lock on ${literal(path)}. It was released, has expired, or was never taken.`,
  )}
  <div class="actions after-empty">${backLink(context, 'Back to the locks')}</div>`;

export function addReleasePages(app: App, { onLockEvent, onReleased, ...parts }: DashboardParts): void {
  const { storage } = parts;
  const { now } = storage;

  const show = (call: PageCall, { workspace }: ReleaseContext, main: Markup, status = 200): Promise<Answer> =>
    showPage(call, { title: 'Release a lock', location: inWorkspace(workspace, 'locks'), main }, status);

  async function find({ bearer }: PageCall, workspace: string, path: LockPath): Promise<Found | undefined> {
    const row = await findCommittedLock(storage, { workspace, path });
    if (!row?.live) return undefined;
    const lock = lockOf(row);
    return { lock, way: releaseWay(bearer, { lock, tokenId: row.token_id }) };
  }

  addPage(app, parts, route, async (call) => {
    const { id } = await workspaceOf(call, storage);
    const { path, lock } = queryOf(call, 'path', 'lock');
    const context = { workspace: id, back: searchOfReferer(call.c.req.header('referer'), id) };
    const parsed = parseHeldPath(path);
    const found = parsed.ok ? await find(call, id, parsed.value) : undefined;
    if (found === undefined) return show(call, context, gone(context, path), 404);
    if (lock !== '' && lock !== found.lock.id) return show(call, context, changed(call, context, found), 412);
    if (found.way === 'none') return show(call, context, notYours(call, context, found), 403);
    return show(call, context, confirmation(call, context, found, { text: '' }));
  });

  function reasonProblem(reason: string): string | undefined {
    if (reason === '') return 'Say why: whoever loses the lock will ask.';
    return reason.length > maxReasonLength ? `It must not be longer than ${maxReasonLength} characters.` : undefined;
  }

  async function release(call: ActionCall, context: ReleaseContext, path: LockPath): Promise<Answer> {
    const { workspace, back } = context;
    const { c, form, bearer } = call;
    const id = form.text('lock');
    const reason = form.text('reason').trim();
    const problem = reasonProblem(reason);
    const admin = grants(bearer.scopes, 'locks:admin');
    const outcome = await storage.commit({ workspace }, (db) =>
      releaseLock(db, now, {
        workspace,
        path,
        match: (held) => held === id,
        releaser: { ...actorOf(c), owner: bearer.owner, force: admin && problem === undefined, reason },
      }),
    );
    switch (outcome.kind) {
      case 'released':
        onLockEvent();
        onReleased({ workspace, path, id: outcome.lock.id });
        return seeOther(listAt(workspace, back, 'released'));
      case 'absent':
        return seeOther(listAt(workspace, back, 'absent'));
      case 'another-lock': {
        const found = await find(call, workspace, path);
        return found === undefined
          ? seeOther(listAt(workspace, back, 'absent'))
          : show(call, context, changed(call, context, found), 412);
      }
      case 'another-owner': {
        const found: Found = { lock: outcome.lock, way: admin ? 'force' : 'none' };
        if (!admin) return show(call, context, notYours(call, context, found), 403);
        const view = confirmation(call, context, found, { text: reason, problem });
        return show(call, context, view, 422);
      }
    }
  }

  addAction(app, parts, route, async (call) => {
    const { id } = await workspaceOf(call, storage);
    const context = { workspace: id, back: listSearch(call.form.text('back')) };
    const path = parseHeldPath(call.form.text('path'));
    return path.ok ? release(call, context, path.value) : show(call, context, gone(context, ''), 404);
  });
}
