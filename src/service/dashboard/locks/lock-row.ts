import { html } from 'hono/html';
import { safeText } from '../../safe-text.ts';
import type { Markup } from '../elements/markup.ts';
import { plural } from '../elements/text.ts';
import { time } from '../elements/time.ts';
import { folderOf } from './arrange.ts';
import { countdown } from './countdown.ts';
import { listAddress } from './list-query.ts';
import { releaseAddress } from './release-address.ts';
import { runLink } from './run-link.ts';
import type { ShownLock } from './shown-lock.ts';

/** Rows are grids of one height, so that a browser can leave out what is not in sight; the roles keep them a table. */
export interface RowPlace {
  readonly workspace: string;
  readonly now: number;
  /** Whether anything can be released from here. */
  readonly releasing: boolean;
}

const nameOf = (path: string): string => path.slice(folderOf(path).length);

function releaseLink(workspace: string, lock: ShownLock): Markup {
  const { release, path } = lock;
  const text = release === 'force' ? 'Force release' : 'Release';
  return html`<a class="button release${release === 'force' ? ' danger' : ''}" href="${releaseAddress(workspace, lock)}" aria-label="${text} ${safeText(path)}"${release === 'none' ? html` hidden` : ''}>${text}</a>`;
}

export function lockRow({ workspace, now, releasing }: RowPlace, lock: ShownLock): Markup {
  const { path, owner, origin, acquired_at, expires_at } = lock;
  return html`<tr role="row" class="lock">
    <th role="rowheader" scope="row" class="lock-path"><a class="path" href="${listAddress(workspace, { path })}" title="${safeText(path)}"><bdi class="folder">${safeText(folderOf(path))}</bdi><bdi class="name">${safeText(nameOf(path))}</bdi></a></th>
    <td role="cell" class="lock-owner"><bdi class="owner" title="${safeText(owner)}">${safeText(owner)}</bdi></td>
    <td role="cell" class="lock-run">${runLink(origin)}</td>
    <td role="cell" class="lock-since">${time(acquired_at, now)}</td>
    <td role="cell" class="lock-left">${countdown(expires_at, now)}<span class="on-cards"> left</span></td>
    ${releasing ? html`<td role="cell" class="lock-release">${releaseLink(workspace, lock)}</td>` : ''}
  </tr>`;
}

const rootFolder = 'Outside of all folders';

/** Its button is there for a browser with JavaScript: without, a folder stays open. */
export const folderRow = (
  folder: string,
  count: number,
  columns: number,
): Markup => html`<tr role="row" class="folder-row">
    <th role="rowheader" scope="rowgroup" colspan="${columns}" aria-colspan="${columns}"><button type="button" class="quiet fold" aria-expanded="true" disabled><bdi class="folder">${folder === '' ? rootFolder : safeText(folder)}</bdi></button> <span class="faint folder-count">${plural(count, 'lock')}</span></th>
  </tr>`;
