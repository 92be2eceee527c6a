import { html } from 'hono/html';
import type { Lock } from '../../../interface/resources.ts';
import type { LockChangeKind } from '../../locks/history.ts';
import type { RecordedLockChange } from '../../locks/read-history.ts';
import { pathAddress } from '../assets/lock-list.js';
import { safeText, shortRun } from '../assets/text.js';
import { fullTime } from '../assets/time.js';
import { table } from './list.ts';
import { faint, literal, type Markup, time, userText } from './text.ts';

export const runOf = (origin: string | null): Markup =>
  origin === null || shortRun(origin) === undefined
    ? faint('unknown')
    : html`<a rel="noreferrer noopener" href="${origin}"><bdi>${safeText(origin)}</bdi></a>`;

/** For a row, where there is less room. */
export const shortRunOf = (origin: string | null): Markup => {
  const text = shortRun(origin);
  return origin === null || text === undefined
    ? faint('unknown')
    : html`<a rel="noreferrer noopener" href="${origin}" title="${safeText(origin)}"><bdi>${safeText(text)}</bdi></a>`;
};

/** A lock in full, to decide about. */
export const lockFacts = ({ path, owner, origin, note, acquired_at, expires_at }: Lock, now: number): Markup =>
  html`<dl class="facts">
    <dt>Path</dt><dd>${literal(path)}</dd>
    <dt>Holder</dt><dd>${userText(owner)}</dd>
    ${note === null ? '' : html`<dt>Note</dt><dd>${userText(note)}</dd>`}
    <dt>From run</dt><dd>${runOf(origin)}</dd>
    <dt>Since</dt><dd>${time(acquired_at, now)} <span class="faint">(${fullTime(acquired_at)})</span></dd>
    <dt>Until</dt><dd>${time(expires_at, now)} <span class="faint">(${fullTime(expires_at)})</span></dd>
  </dl>`;

export const changeNames: Readonly<Record<LockChangeKind, string>> = {
  acquired: 'taken',
  released: 'released',
  'force-released': 'force-released',
  expired: 'expired',
};

const isKnown = (kind: string): kind is LockChangeKind => Object.hasOwn(changeNames, kind);

/** Kinds of other versions are shown as they are. */
function change({ kind, owner, ended_by }: RecordedLockChange): Markup {
  const by = ended_by === null || ended_by === owner ? '' : html` by ${userText(ended_by)}`;
  return html`${isKnown(kind) ? changeNames[kind] : literal(kind)}${by}`;
}

/** What happened to locks; without a workspace they are all on one path, which is left out. */
export function changeTable(changes: readonly RecordedLockChange[], now: number, workspace?: string): Markup {
  const pathCell = ({ path }: RecordedLockChange) =>
    workspace === undefined
      ? ''
      : html`<th scope="row"><a class="path" href="${pathAddress(workspace, path)}"><bdi>${safeText(path)}</bdi></a></th>`;
  const rows = changes.map(
    (each) => html`<tr>
      <td>${time(each.at, now)}</td>
      ${pathCell(each)}
      <td data-label="What">${change(each)}</td>
      <td data-label="Holder">${userText(each.owner)}${each.note === null ? '' : html`<br><span class="faint">${userText(each.note)}</span>`}</td>
      <td data-label="From run">${shortRunOf(each.origin)}</td>
    </tr>`,
  );
  return table('cards', ['When', workspace === undefined ? '' : 'Path', 'What', 'Holder', 'From run'], rows);
}
