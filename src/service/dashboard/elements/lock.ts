import { html } from 'hono/html';
import { formatDuration } from '../../../interface/duration.ts';
import { runName } from '../../../interface/format.ts';
import type { Lock } from '../../../interface/resources.ts';
import { safeText } from '../../../interface/safe-text.ts';
import { maxTtl } from '../../../interface/ttl.ts';
import type { LockChangeKind } from '../../locks/history.ts';
import type { RecordedLockChange } from '../../locks/read-history.ts';
import { type FormField, textInput } from './fields.ts';
import { type Row, urlWith } from './list.ts';
import { folderOf, listUrl, pathUrl } from './lock-list.ts';
import { brokenAtSlashes, countdown, faint, literal, type Markup, pointInTime, time, userText } from './text.ts';

export const newLockUrl = (workspace: string, path = ''): string =>
  urlWith(`/workspaces/${workspace}/locks/new`, { path });

export const askUrl = (workspace: string, path: string): string =>
  urlWith(`/workspaces/${workspace}/locks/ask`, { path });

/** All details of a lock, for decisions about it. */
export const lockFacts = ({ path, owner, origin, note, acquired_at, expires_at }: Lock, now: number): Markup =>
  html`<dl class="facts">
    <dt>Path</dt><dd>${literal(path)}</dd>
    <dt>Holder</dt><dd>${userText(owner)}</dd>
    ${note === null ? '' : html`<dt>Note</dt><dd>${userText(note)}</dd>`}
    <dt>From run</dt><dd>${originLink(origin, 'whole')}</dd>
    <dt>Since</dt><dd>${time(acquired_at, now)} <span class="faint">(${pointInTime(acquired_at)})</span></dd>
    <dt>Until</dt><dd>${time(expires_at, now)} <span class="faint">(${pointInTime(expires_at)})</span></dd>
  </dl>`;

/** A change to a lock. Without a workspace, all changes are on one path, and the column is omitted. */
export const changeRow = (change: RecordedLockChange, now: number, workspace?: string): Row => [
  ['When', time(change.at, now)],
  workspace === undefined ? '' : ['Path', pathLink(workspace, change.path), 'head'],
  ['What', changeText(change)],
  ['Holder', holderCell(change)],
];

/** The holder of a lock, its run and its note. With a workspace, the name leads to all locks of the holder. */
export function holderCell(
  { owner, origin, note }: Pick<Lock, 'owner' | 'origin' | 'note'>,
  workspace?: string,
): Markup {
  const name = userText(owner);
  return html`${workspace === undefined ? name : html`<a class="holder" href="${listUrl(workspace, { holder: owner })}">${name}</a>`}${
    origin === null ? '' : html` <span class="faint">from ${originLink(origin, 'short')}</span>`
  }${noteLine({ note })}`;
}

export const noteLine = ({ note }: Pick<Lock, 'note'>): Markup | string =>
  note === null ? '' : html`<div class="note faint" title="${safeText(note)}">${userText(note)}</div>`;

export const lockCells = ({ acquired_at, expires_at }: Lock, now: number): Row => [
  ['Since', time(acquired_at, now)],
  ['Time left', countdown(expires_at, now), 'nowrap'],
];

export const durationField = (title: string): FormField =>
  textInput('duration', title, {
    hint: `A whole number with m, h or d, such as 90m, 8h or 3d. At most ${formatDuration(maxTtl)}.`,
    attributes: html` required`,
  });

/** Link to those who wait for the lock on a path; empty if nobody does. The holder is notified of it. */
export const waitingLink = (workspace: string, path: string, count: number, isOwn: boolean): Markup | string =>
  count === 0
    ? ''
    : html`<a class="waiting" href="${pathUrl(workspace, path)}"${isOwn ? html` data-notice="${count} waiting for ${safeText(path)}"` : ''}>${count} waiting</a>`;

/** Link to a path, whose end stays visible if it is too long. */
export const pathLink = (workspace: string, path: string): Markup => {
  const folder = folderOf(path);
  return html`<a class="path" href="${pathUrl(workspace, path)}" title="${safeText(path)}"><span dir="ltr"><bdi class="folder">${safeText(folder)}</bdi><bdi class="name">${safeText(path.slice(folder.length))}</bdi></span></a>`;
};

export function originLink(origin: string | null, length: 'whole' | 'short'): Markup {
  const short = shortRun(origin);
  if (origin === null || short === undefined) return faint(origin === null ? 'by hand' : 'unknown');
  return html`<a rel="noreferrer noopener" href="${origin}">${brokenAtSlashes(length === 'short' ? (runName(origin) ?? short) : origin)}</a>`;
}

/** Enough segments for `runs/1234567890/attempts/1`. */
const maxSegments = 4;

/** The shortened URL of a run; undefined if it is not an http or https URL. */
export function shortRun(origin: string | null): string | undefined {
  const { protocol, host = '', pathname = '' } = URL.parse(origin ?? '') ?? {};
  if (protocol !== 'https:' && protocol !== 'http:') return undefined;
  const segments = pathname.split('/').filter((segment) => segment !== '');
  const skipped = segments.length > maxSegments ? ['…'] : [];
  return [host, ...skipped, ...segments.slice(-maxSegments)].join('/');
}

export const changeNames: Readonly<Record<LockChangeKind, string>> = {
  acquired: 'taken',
  released: 'released',
  'force-released': 'force-released',
  merged: 'released by a merge',
  expired: 'expired',
};

/** Name of a change. Unknown kinds, recorded by other versions of the service, are shown unchanged. */
function changeText({ kind, owner, ended_by }: RecordedLockChange): Markup {
  const by =
    ended_by === null || ended_by === owner ? '' : html` ${kind === 'merged' ? 'into' : 'by'} ${userText(ended_by)}`;
  return html`${isKnown(kind) ? changeNames[kind] : literal(kind)}${by}`;
}

const isKnown = (kind: string): kind is LockChangeKind => Object.hasOwn(changeNames, kind);
