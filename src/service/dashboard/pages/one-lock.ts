import { html } from 'hono/html';
import { type LockPath, parseHeldPath } from '../../../interface/lock-path.ts';
import type { Lock } from '../../../interface/resources.ts';
import { findCommittedLock } from '../../locks/find.ts';
import { lockOf } from '../../locks/lock-row.ts';
import { lockFacts } from '../elements/lock.ts';
import { listAddress, ownLocksAddress, parseListQuery } from '../elements/lock-list.ts';
import { empty, literal, type Markup } from '../elements/text.ts';
import type { Notice } from '../frame/notices.ts';
import {
  addWorkspaceAction,
  addWorkspacePage,
  queryOf,
  type Site,
  type View,
  type WorkspaceActionCall,
  type WorkspaceCall,
} from '../frame/page.ts';
import { type ReleaseWay, releaseWay } from './lock-table.ts';

export interface ReleasableLock {
  readonly lock: Lock;
  readonly way: ReleaseWay;
}

/** The text in the only field of a form. */
export interface EnteredText {
  readonly text: string;
  readonly problem?: string | undefined;
}

/** An action on a lock. */
export interface LockAction {
  /** The last segment of its URL. */
  readonly name: string;
  readonly title: string;
  readonly nothingDone: string;
  readonly done: Notice;
  /** Notice if the lock is gone. */
  readonly absent: Notice;
  readonly whoMay: Markup;
  readonly isAllowed: (way: ReleaseWay) => boolean;
  /** A link to the action on the current lock. */
  readonly again: (workspace: string, lock: Lock) => Markup;
  /** Asks for confirmation. The form contains the hidden fields. */
  readonly confirmation: (
    call: WorkspaceCall,
    found: ReleasableLock,
    form: { readonly hidden: Readonly<Record<string, string>>; readonly cancel: Markup },
    entered: EnteredText | undefined,
  ) => Markup;
  /** Changes the lock with the id in the form. Returns what was entered if nothing was done. */
  readonly act: (call: WorkspaceActionCall, path: LockPath) => Promise<EnteredText | undefined>;
}

/** The pages for an action. It changes only the lock that was shown, never a later one on the same path. */
export function addLockAction(site: Site, action: LockAction): void {
  const route = { path: `/locks/${action.name}`, access: 'locks:write' } as const;
  const show = (main: Markup, status: number): View => ({ title: action.title, main, status });

  async function find({ bearer, workspace }: WorkspaceCall, path: LockPath): Promise<ReleasableLock | undefined> {
    const row = await findCommittedLock(site.storage, { workspace: workspace.id, path });
    if (!row?.live) return undefined;
    const lock = lockOf(row);
    return { lock, way: releaseWay(bearer, row) };
  }

  const notAllowed = (call: WorkspaceCall, back: string, { lock }: ReleasableLock): Markup => html`
    <p class="warning">Someone else holds this lock. ${action.whoMay}</p>
    ${lockFacts(lock, call.now)}
    <div class="actions">${backLink(back)}</div>`;

  const changed = (call: WorkspaceCall, back: string, { lock, way }: ReleasableLock): Markup => html`
    <p class="warning" role="alert"><strong>${action.nothingDone}</strong> The lock you were shown is gone, and the path has a new lock. It is held by:</p>
    ${lockFacts(lock, call.now)}
    <div class="actions">
      ${backLink(back)}
      ${action.isAllowed(way) ? action.again(call.workspace.id, lock) : ''}
    </div>`;

  /** Asks for confirmation, unless the current lock is not the one that was shown, or this token may not change it. */
  function ask(call: WorkspaceCall, back: string, found: ReleasableLock, shown: string, entered?: EnteredText): View {
    const { path, id } = found.lock;
    if (shown !== id) return show(changed(call, back, found), 412);
    if (!action.isAllowed(found.way)) return show(notAllowed(call, back, found), 403);
    const form = { hidden: { path, lock: id, back }, cancel: backLink(back, 'Cancel') };
    return show(action.confirmation(call, found, form, entered), entered === undefined ? 200 : 422);
  }

  addWorkspacePage(site, route, async (call) => {
    const back = listAt(call.c.req.header('referer') ?? '', call.workspace.id);
    const { path, lock } = queryOf(call, 'path', 'lock');
    const parsed = parseHeldPath(path);
    const found = parsed.ok ? await find(call, parsed.value) : undefined;
    if (found === undefined) return show(gone(back, path), 404);
    return ask(call, back, found, lock === '' ? found.lock.id : lock);
  });

  addWorkspaceAction(site, route, async (call) => {
    const back = listAt(call.form.text('back'), call.workspace.id);
    const path = parseHeldPath(call.form.text('path'));
    if (!path.ok) return show(gone(back, ''), 404);
    const refused = await action.act(call, path.value);
    if (refused === undefined) return { to: back, notice: action.done };
    const found = await find(call, path.value);
    if (found === undefined) return { to: back, notice: action.absent };
    return ask(call, back, found, call.form.text('lock'), refused);
  });
}

/** URL of the list of locks, with the search of the given URL. Never links to another page, even if that URL does. */
export function listAt(address: string, workspace: string): string {
  const { pathname, searchParams } = URL.parse(address, 'http://here.invalid') ?? {};
  if (pathname === ownLocksAddress) return ownLocksAddress;
  const list = listAddress(workspace);
  return pathname === list && searchParams !== undefined ? listAddress(workspace, parseListQuery(searchParams)) : list;
}

const gone = (back: string, path: string): Markup =>
  nothingToDo(
    back,
    'This lock no longer exists.',
    path === ''
      ? 'The address names no path.'
      : html`Nobody holds a lock on ${literal(path)}. It was released, has expired, or was never taken.`,
  );

export const nothingToDo = (back: string, reason: string, next: Markup | string): Markup =>
  html`${empty(reason, next)}<div class="actions">${backLink(back)}</div>`;

export const backLink = (back: string, text = 'Back to the locks'): Markup =>
  html`<a class="button" href="${back}" data-escape aria-keyshortcuts="Escape">${text}</a>`;
