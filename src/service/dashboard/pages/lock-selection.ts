import { html } from 'hono/html';
import { parseHeldPath } from '../../../interface/lock-path.ts';
import { locksWithIds } from '../../locks/list.ts';
import { type LockRow, toLock } from '../../locks/lock-row.ts';
import { buttonLink } from '../elements/fields.ts';
import { lockFacts } from '../elements/lock.ts';
import { listUrl, ownLocksUrl, parseListQuery } from '../elements/lock-list.ts';
import { empty, literal, type Markup } from '../elements/text.ts';
import type { Site, View, WorkspaceCall } from '../frame/page.ts';

/** Locks on an earlier page, which may have ended since then. */
export interface LockSelection {
  readonly ids: readonly string[];
  /** The path of a single lock. */
  readonly path: string;
  /** The list to return to. */
  readonly back: string;
}

/**
 * The active locks with these ids. Invalid ids are not looked up, because they may contain characters that a database
 * rejects.
 */
export async function selectedLocks({ storage }: Site, workspace: string, ids: readonly string[]): Promise<LockRow[]> {
  const valid = ids.filter((id) => /^[!-~]{1,128}$/.test(id));
  return valid.length === 0 ? [] : locksWithIds(storage, workspace, valid);
}

/** Says that the locks no longer exist, and who holds the path of a single one now. */
export async function endedLocks(
  { locks }: Site,
  { workspace, now }: WorkspaceCall,
  { ids, path: text, back }: LockSelection,
  { title, nothingDone }: { readonly title: string; readonly nothingDone: string },
): Promise<View> {
  const path = parseHeldPath(text);
  const current = path.ok ? await locks.find({ workspace: workspace.id, path: path.value }) : undefined;
  if (current?.isActive) {
    const warning = html`<strong>${nothingDone}</strong> The lock you were shown is gone, and the path has a new lock. It is held by:`;
    const more = buttonLink(listUrl(workspace.id, { path: current.path }), 'Show the new lock');
    return refusedView({ title, warning, details: lockFacts(toLock(current), now), back, more, status: 412 });
  }
  const gone = ids.length > 1 ? 'These locks no longer exist.' : 'This lock no longer exists.';
  const reason = 'A lock ends when it is released or expires.';
  const next = text === '' ? reason : html`Nobody holds a lock on ${literal(text)}. ${reason}`;
  return { title, main: nothingToDo(back, `${gone} ${nothingDone}`, next), status: 404 };
}

interface RefusedView extends Pick<View, 'title' | 'status'>, Pick<LockSelection, 'back'> {
  readonly warning: Markup;
  /** The locks that were not changed. */
  readonly details: Markup;
  readonly more?: Markup;
}

export const refusedView = ({ warning, details, back, more, ...view }: RefusedView): View => ({
  ...view,
  main: html`<p class="warning" role="alert">${warning}</p>
    ${details}
    <div class="actions">${backLink(back)} ${more ?? ''}</div>`,
});

export const nothingToDo = (back: string, reason: string, next: Markup | string): Markup =>
  html`${empty(reason, next)}<div class="actions">${backLink(back)}</div>`;

export const backLink = (back: string, text = 'Back to the locks'): Markup =>
  html`<a class="button" href="${back}" data-escape aria-keyshortcuts="Escape">${text}</a>`;

export const previousList = ({ c, workspace }: WorkspaceCall): string =>
  safeListUrl(c.req.header('referer') ?? '', workspace.id);

/** URL of the list of locks, with the search of the given URL. Never links to another page, even if that URL does. */
export function safeListUrl(url: string, workspace: string): string {
  const { pathname, searchParams } = URL.parse(url, 'http://here.invalid') ?? {};
  if (pathname === ownLocksUrl) return ownLocksUrl;
  const list = listUrl(workspace);
  return pathname === list && searchParams !== undefined ? listUrl(workspace, parseListQuery(searchParams)) : list;
}
