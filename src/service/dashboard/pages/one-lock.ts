import { html } from 'hono/html';
import { type LockPath, parseHeldPath } from '../../../interface/lock-path.ts';
import type { Lock } from '../../../interface/resources.ts';
import type { ApiResponse } from '../../contract/response.ts';
import { findCommittedLock } from '../../locks/find.ts';
import { lockOf } from '../../locks/lock-row.ts';
import type { Storage } from '../../storage/storage.ts';
import type { FoundWorkspace } from '../../workspaces/workspaces.ts';
import { lockFacts } from '../elements/lock.ts';
import { listAddress, ownLocksAddress, parseListQuery } from '../elements/lock-list.ts';
import { empty, literal, type Markup } from '../elements/text.ts';
import { inWorkspace, showPage } from '../frame/layout.ts';
import { type ActionCall, type PageCall, queryOf, requestedWorkspace } from '../frame/page.ts';
import { seeOther } from '../frame/response.ts';
import { type ReleaseWay, releaseWay } from './lock-table.ts';

/** Shared by pages that change a lock: only the lock that was shown, never a later one on the same path. */

const notices = {
  taken: 'The lock is yours.',
  'sent-twice': 'The form was sent twice. The second time changed nothing.',
  extended: 'The lock was extended.',
  'not-extended': 'Nothing was extended: the lock was already gone. It was released, or it expired.',
  released: 'The lock was released.',
  'released-all': 'The selected locks were released.',
  'released-some': 'The selected locks that were still there were released. The others were gone already.',
  absent: 'Nothing was released: the lock was already gone. Its holder released it, or it expired.',
} as const;

const noticeTexts: ReadonlyMap<string, string> = new Map(Object.entries(notices));

/** Result of an action, by the code in the URL of a list. */
export const lockNotice = (code: string): string | undefined => noticeTexts.get(code);

export interface LockContext {
  readonly workspace: FoundWorkspace;
  /** The URL of the list to return to. */
  readonly back: string;
}

/** Hidden fields that identify the lock of a form. */
export const lockFields = ({ back }: LockContext, { path, id }: Lock) => ({ path, lock: id, back });

/** The text in the only field of a form. */
export interface EnteredText {
  readonly text: string;
  readonly problem?: string | undefined;
}

type Notice = keyof typeof notices;

export interface ReleasableLock {
  readonly lock: Lock;
  readonly way: ReleaseWay;
}

/** Texts and rules of an action on a lock. */
export interface LockAction {
  readonly title: string;
  readonly nothingDone: string;
  /** Notice if the lock is gone. */
  readonly absent: Notice;
  readonly whoMay: Markup;
  readonly isAllowed: (way: ReleaseWay) => boolean;
  /** A link to the action on the current lock. */
  readonly again: (workspace: string, lock: Lock) => Markup;
}

/** The common parts of the pages for an action. */
export function createLockPages(storage: Storage, change: LockAction) {
  const show = (call: PageCall, { workspace }: LockContext, main: Markup, status = 200): Promise<ApiResponse> =>
    showPage(call, { title: change.title, location: inWorkspace(workspace.id, 'locks'), main }, status);

  async function find(
    { bearer }: PageCall,
    { workspace }: LockContext,
    path: LockPath,
  ): Promise<ReleasableLock | undefined> {
    const row = await findCommittedLock(storage, { workspace: workspace.id, path });
    if (!row?.live) return undefined;
    const lock = lockOf(row);
    return { lock, way: releaseWay(bearer, { lock, tokenId: row.token_id }) };
  }

  const notAllowed = (call: PageCall, context: LockContext, { lock }: ReleasableLock): Markup => html`
    <p class="warning">Someone else holds this lock. ${change.whoMay}</p>
    ${lockFacts(lock, call.now)}
    <div class="actions">${backLink(context, 'Back to the locks')}</div>`;

  const changed = (call: PageCall, context: LockContext, { lock, way }: ReleasableLock): Markup => html`
    <p class="warning" role="alert"><strong>${change.nothingDone}</strong> The lock you were shown is gone, and the path has a new lock. It is held by:</p>
    ${lockFacts(lock, call.now)}
    <div class="actions">
      ${backLink(context, 'Back to the locks')}
      ${change.isAllowed(way) ? change.again(context.workspace.id, lock) : ''}
    </div>`;

  /** Error page if the current lock is not the one that was shown, or may not be changed by this token. */
  function whyNot(
    call: PageCall,
    context: LockContext,
    found: ReleasableLock,
    shown: string,
  ): Promise<ApiResponse> | undefined {
    if (shown !== found.lock.id) return show(call, context, changed(call, context, found), 412);
    return change.isAllowed(found.way) ? undefined : show(call, context, notAllowed(call, context, found), 403);
  }

  return {
    /** Asks for confirmation for the lock in the URL. */
    async ask(
      call: PageCall,
      confirmation: (context: LockContext, found: ReleasableLock) => Markup,
    ): Promise<ApiResponse> {
      const workspace = await requestedWorkspace(call, storage);
      const context = { workspace, back: listAt(call.c.req.header('referer') ?? '', workspace.id) };
      const { path, lock } = queryOf(call, 'path', 'lock');
      const parsed = parseHeldPath(path);
      const found = parsed.ok ? await find(call, context, parsed.value) : undefined;
      if (found === undefined) return show(call, context, gone(context, path), 404);
      const refusal = whyNot(call, context, found, lock === '' ? found.lock.id : lock);
      return refusal ?? show(call, context, confirmation(context, found));
    },

    /** Performs the action on the path in the form. */
    async act(
      call: ActionCall,
      act: (context: LockContext, path: LockPath) => Promise<ApiResponse>,
    ): Promise<ApiResponse> {
      const workspace = await requestedWorkspace(call, storage);
      const context = { workspace, back: listAt(call.form.text('back'), workspace.id) };
      const path = parseHeldPath(call.form.text('path'));
      return path.ok ? act(context, path.value) : show(call, context, gone(context, ''), 404);
    },

    /** Explains why nothing was done, or asks again if the form was invalid. */
    async refuse(
      call: ActionCall,
      context: LockContext,
      path: LockPath,
      confirmation: (found: ReleasableLock) => Markup,
    ): Promise<ApiResponse> {
      const found = await find(call, context, path);
      if (found === undefined) return withNotice(context.back, change.absent);
      const refusal = whyNot(call, context, found, call.form.text('lock'));
      return refusal ?? show(call, context, confirmation(found), 422);
    },
  };
}

export const withNotice = (list: string, code: Notice): ApiResponse =>
  seeOther(`${list}${list.includes('?') ? '&' : '?'}notice=${code}`);

/** URL of the list of locks, with the search of the given URL. Never links to another page, even if that URL does. */
export function listAt(address: string, workspace: string): string {
  const { pathname, searchParams } = URL.parse(address, 'http://here.invalid') ?? {};
  if (pathname === ownLocksAddress) return ownLocksAddress;
  const list = listAddress(workspace);
  return pathname === list && searchParams !== undefined ? listAddress(workspace, parseListQuery(searchParams)) : list;
}

const gone = (context: LockContext, path: string): Markup => html`
  ${empty(
    'This lock no longer exists.',
    path === ''
      ? 'The address names no path.'
      : html`Nobody holds a lock on ${literal(path)}. It was released, has expired, or was never taken.`,
  )}
  <div class="actions after-empty">${backLink(context, 'Back to the locks')}</div>`;

export const backLink = ({ back }: Pick<LockContext, 'back'>, text: string): Markup =>
  html`<a class="button" href="${back}" data-escape aria-keyshortcuts="Escape">${text}</a>`;
