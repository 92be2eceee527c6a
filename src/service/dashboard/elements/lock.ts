import { html } from 'hono/html';
import { formatDuration, maxTtl } from '../../../interface/duration.ts';
import { runName } from '../../../interface/format.ts';
import { maxNoteLength } from '../../../interface/lock-path.ts';
import { safeText } from '../../../interface/safe-text.ts';
import type { Lock } from '../../contract/schemas.ts';
import { grants } from '../../contract/scopes.ts';
import { isOwnLock } from '../../locks/change-lock.ts';
import type { LockRow } from '../../locks/find.ts';
import type { RecordedLockPeriod } from '../../locks/history.ts';
import type { Bearer } from '../../tokens/tokens.ts';
import { type FormField, textInput } from './fields.ts';
import { faint, literal, type Markup, pointInTime, type Row, time, urlWith, userText } from './markup.ts';

type Query = Readonly<Record<string, string | undefined>>;

/** The URLs of the pages about the locks of a workspace. As in the API, a path is one segment. */
export const urls = {
  locks: (workspace: string, query: Query = {}) => urlWith(`/workspaces/${workspace}/locks`, query),
  path: (workspace: string, path: string) => `/workspaces/${workspace}/paths/${encodeURIComponent(path)}`,
  newLock: (workspace: string, path = '') => urlWith(`/workspaces/${workspace}/locks/new`, { path }),
  /** The page that releases exactly the lock with this id. */
  release: (workspace: string, lock: string) => urlWith(`/workspaces/${workspace}/locks/release`, { lock }),
  history: (workspace: string, query: Query = {}) => urlWith(`/workspaces/${workspace}/locks/history`, query),
  pools: (workspace: string) => `/workspaces/${workspace}/pools`,
};

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

export const mayLock = ({ scopes }: Bearer): boolean => grants(scopes, 'locks:write');

export function releaseWay(bearer: Bearer, lock: LockRow): 'own' | 'force' | 'none' {
  if (isOwnLock(lock, bearer)) return mayLock(bearer) ? 'own' : 'none';
  return grants(bearer.scopes, 'locks:admin') ? 'force' : 'none';
}

export const lockFacts = ({ path, owner, origin, note, acquired_at, expires_at }: Lock, now: number): Markup =>
  html`<dl class="facts">
    <dt>Path</dt><dd>${literal(path)}</dd>
    <dt>Holder</dt><dd>${userText(owner)}</dd>
    ${note === null ? '' : html`<dt>Note</dt><dd>${userText(note)}</dd>`}
    <dt>From run</dt><dd>${runLink(origin)}</dd>
    <dt>Since</dt><dd>${time(acquired_at, now)} <span class="faint">(${pointInTime(acquired_at)})</span></dd>
    <dt>Until</dt><dd>${time(expires_at, now)} <span class="faint">(${pointInTime(expires_at)})</span></dd>
  </dl>`;

export function lockLinks(bearer: Bearer, row: LockRow): Markup {
  const { workspace_id: workspace, path, id } = row;
  const action = (text: string, href: string) => html`${actionLink(text, path, href)} `;
  const release = urls.release(workspace, id);
  const way = releaseWay(bearer, row);
  if (way === 'own') return html`${action('Extend', urls.path(workspace, path))}${action('Release', release)}`;
  const ask = mayLock(bearer) ? action('Ask', urls.path(workspace, path)) : '';
  return html`${ask}${way === 'force' ? action('Force release', release) : ''}`;
}

export const actionLink = (text: string, path: string, href: string): Markup =>
  html`<a href="${href}" aria-label="${text} ${safeText(path)}">${text}</a>`;

/** A lock that has ended. Without a workspace, all rows are about one path, and that column is omitted. */
export const periodRow = (period: RecordedLockPeriod, now: number, workspace?: string): Row => [
  ['Taken', time(period.acquired_at, now)],
  workspace === undefined ? '' : ['Path', pathLink(workspace, period.path), 'head'],
  ['Holder', holderCell(period)],
  ['Ended', time(period.ended_at, now)],
  ['How', endText(period)],
];

export const holderCell = ({ owner, origin, note }: Pick<Lock, 'owner' | 'origin' | 'note'>): Markup =>
  html`${userText(owner)}${origin === null ? '' : html` <span class="faint">from ${runLink(origin)}</span>`}${noteLine({ note })}`;

export const noteLine = ({ note }: Pick<Lock, 'note'>): Markup | string =>
  note === null ? '' : html`<div class="faint">${userText(note)}</div>`;

export const lockCells = ({ acquired_at, expires_at }: Pick<Lock, 'acquired_at' | 'expires_at'>, now: number): Row => [
  ['Since', time(acquired_at, now)],
  ['Until', time(expires_at, now)],
];

export const durationField = (title: string): FormField =>
  textInput('duration', title, {
    hint: `A whole number with m, h or d, such as 90m, 8h or 3d. At most ${formatDuration(maxTtl)}.`,
    attributes: html` required`,
  });

export const noteField = (readers: string): FormField =>
  textInput('note', 'Note', { hint: `${readers} One line of up to ${maxNoteLength} characters; may be empty.` });

/** Link to the clients that wait for the lock on a path; empty if none do. The page notifies the holder. */
export const waitingLink = (workspace: string, path: string, count: number, isOwn: boolean): Markup | string =>
  count === 0
    ? ''
    : html` <a class="waiting" href="${urls.path(workspace, path)}"${isOwn ? html` data-notice="${count} waiting for ${safeText(path)}"` : ''}>${count} waiting</a>`;

export function pathLink(workspace: string, path: string): Markup {
  const folder = folderOf(path);
  return html`<a class="path" href="${urls.path(workspace, path)}"><bdi>${safeText(folder)}</bdi><bdi class="name">${safeText(path.slice(folder.length))}</bdi></a>`;
}

/** Links only to http and https URLs, because clients choose the URL. */
export function runLink(origin: string | null): Markup {
  if (origin === null) return faint('by hand');
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return faint('unknown');
  const text = runName(origin) ?? origin.replace(/^https?:\/\//, '');
  return html`<a rel="noreferrer noopener" href="${origin}">${userText(text)}</a>`;
}

function endText({ kind, owner, ended_by }: RecordedLockPeriod): Markup {
  const by = ended_by === null || ended_by === owner ? '' : html` by ${userText(ended_by)}`;
  return html`${userText(kind)}${by}`;
}
