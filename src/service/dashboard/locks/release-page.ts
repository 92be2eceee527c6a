import { html } from 'hono/html';
import { type LockPath, parseHeldPath } from '../../../interface/lock-path.ts';
import type { Lock } from '../../../interface/resources.ts';
import { grants } from '../../../interface/scopes.ts';
import { type App, actorOf } from '../../http/operation.ts';
import type { Answer } from '../../http/problem-answer.ts';
import { findCommittedLock } from '../../locks/find.ts';
import { lockOf } from '../../locks/lock-row.ts';
import { releaseLock } from '../../locks/release.ts';
import { seeOther } from '../answer.ts';
import type { DashboardParts } from '../dashboard.ts';
import { empty } from '../elements/empty.ts';
import type { Markup } from '../elements/markup.ts';
import { literal } from '../elements/text.ts';
import { formField, showPage } from '../layout.ts';
import { type ActionCall, addAction, addPage, type PageCall, queryOf, workspaceOf } from '../page.ts';
import { backSearch, listAt, searchOfReferer } from './back.ts';
import { lockFacts } from './lock-facts.ts';
import { releaseAddress } from './release-address.ts';
import { type ReleaseWay, releaseWay } from './shown-lock.ts';

const longestReason = 500;

const route = { path: '/workspaces/:id/locks/release', access: 'locks:write' } as const;

interface Asked {
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
  readonly problem?: string;
}

const backLink = ({ workspace, back }: Asked, text: string): Markup =>
  html`<a class="button" href="${listAt(workspace, back)}" data-escape aria-keyshortcuts="Escape">${text}</a>`;

function reasonField({ text, problem }: Reason): Markup {
  return html`<div class="field">
    <label for="reason">Reason</label>
    <textarea id="reason" name="reason" rows="3" maxlength="${longestReason}" required autofocus
      aria-describedby="reason-hint${problem === undefined ? '' : ' reason-problem'}"${problem === undefined ? '' : html` aria-invalid="true"`}>${text}</textarea>
    ${problem === undefined ? '' : html`<p class="problem" id="reason-problem" role="alert">${problem}</p>`}
    <p class="hint" id="reason-hint">It is kept in the audit, with your name.</p>
  </div>`;
}

function confirmation(call: PageCall, asked: Asked, { lock, way }: Found, reason: Reason): Markup {
  const force = way === 'force';
  return html`
    <p class="warning">${
      force
        ? 'This lock belongs to somebody else. A job that still runs counts on it, and may write over what others change meanwhile. Make sure that the run has ended.'
        : 'This lock was taken with your token. A job that still runs counts on it. Make sure that the run has ended.'
    }</p>
    ${lockFacts(lock, call.now)}
    <form method="post" action="/workspaces/${asked.workspace}/locks/release" class="narrow">
      ${formField(call)}
      <input type="hidden" name="path" value="${lock.path}">
      <input type="hidden" name="lock" value="${lock.id}">
      <input type="hidden" name="back" value="${asked.back}">
      ${force ? reasonField(reason) : ''}
      <div class="actions">
        <button class="danger"${force ? '' : html` autofocus`}>${force ? 'Release it by force' : 'Release it'}</button>
        ${backLink(asked, 'Keep it, and go back')}
      </div>
    </form>`;
}

const notYours = (call: PageCall, asked: Asked, { lock }: Found): Markup => html`
  <p class="warning">This lock belongs to somebody else. Only the token that took it, or one with the scope <code>locks:admin</code>, can release it.</p>
  ${lockFacts(lock, call.now)}
  <div class="actions">${backLink(asked, 'Back to the locks')}</div>`;

const changed = (call: PageCall, asked: Asked, { lock, way }: Found): Markup => html`
  <p class="warning" role="alert"><strong>Nothing was released.</strong> The lock that you were shown is gone, and there is another one on this path by now. This is who holds it:</p>
  ${lockFacts(lock, call.now)}
  <div class="actions">
    ${backLink(asked, 'Back to the locks')}
    ${way === 'none' ? '' : html`<a href="${releaseAddress(asked.workspace, lock)}">Release this one</a>`}
  </div>`;

const gone = (asked: Asked, path: string): Markup => html`
  ${empty(
    'There is no such lock any more.',
    path === ''
      ? 'The address names no path.'
      : html`Nobody holds a lock on ${literal(path)}: it was released, its time is over, or it was never taken.`,
  )}
  <div class="actions after-empty">${backLink(asked, 'Back to the locks')}</div>`;

export function addReleasePages(app: App, { onLockEvent, onReleased, ...parts }: DashboardParts): void {
  const { storage } = parts;
  const { now } = storage;

  const show = (call: PageCall, { workspace }: Asked, main: Markup, status = 200): Promise<Answer> =>
    showPage(
      call,
      {
        title: 'Release a lock',
        place: { section: 'workspaces', workspace, tab: 'locks' },
        scripts: ['escape.js'],
        styles: ['locks.css'],
        main,
      },
      status,
    );

  async function find({ bearer }: PageCall, workspace: string, path: LockPath): Promise<Found | undefined> {
    const row = await findCommittedLock(storage, { workspace, path });
    return row?.live ? { lock: lockOf(row), way: releaseWay(bearer, row.token_id) } : undefined;
  }

  addPage(app, parts, route, async (call) => {
    const { id } = await workspaceOf(call, storage);
    const { path, lock } = queryOf(call, 'path', 'lock');
    const asked = { workspace: id, back: searchOfReferer(call.c.req.header('referer'), id) };
    const parsed = parseHeldPath(path);
    const found = parsed.ok ? await find(call, id, parsed.value) : undefined;
    if (found === undefined) return show(call, asked, gone(asked, path), 404);
    if (lock !== '' && lock !== found.lock.id) return show(call, asked, changed(call, asked, found), 412);
    if (found.way === 'none') return show(call, asked, notYours(call, asked, found), 403);
    return show(call, asked, confirmation(call, asked, found, { text: '' }));
  });

  function reasonProblem(reason: string): string | undefined {
    if (reason === '') return 'Say why: whoever loses the lock will ask.';
    return reason.length > longestReason ? `It is longer than ${longestReason} characters.` : undefined;
  }

  async function release(call: ActionCall, asked: Asked, path: LockPath): Promise<Answer> {
    const { workspace, back } = asked;
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
        releaser: { ...actorOf(c), force: admin && problem === undefined, reason },
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
          : show(call, asked, changed(call, asked, found), 412);
      }
      case 'another-token': {
        const found: Found = { lock: outcome.lock, way: admin ? 'force' : 'none' };
        if (!admin) return show(call, asked, notYours(call, asked, found), 403);
        const view = confirmation(call, asked, found, { text: reason, ...(problem !== undefined && { problem }) });
        return show(call, asked, view, 422);
      }
    }
  }

  addAction(app, parts, route, async (call) => {
    const { id } = await workspaceOf(call, storage);
    const asked = { workspace: id, back: backSearch(call.form.text('back')) };
    const path = parseHeldPath(call.form.text('path'));
    return path.ok ? release(call, asked, path.value) : show(call, asked, gone(asked, ''), 404);
  });
}
