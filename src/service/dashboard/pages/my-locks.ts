import { html } from 'hono/html';
import { pluralize } from '../../../interface/format.ts';
import { grants } from '../../../interface/scopes.ts';
import { ownLocks } from '../../locks/list.ts';
import { type LockRow, toLock } from '../../locks/lock-row.ts';
import { countWaiting } from '../../locks/queue.ts';
import { safeText } from '../../platform/safe-text.ts';
import { groupedTable, hiddenHeading, type Row } from '../elements/list.ts';
import { lockCells, waitingLink } from '../elements/lock.ts';
import { extendUrl, listUrl, ownLocksUrl, releaseUrl } from '../elements/lock-list.ts';
import { empty, literal, type Markup, userText } from '../elements/text.ts';
import { addPage, type PageCall, type Site } from '../frame/page.ts';

/** More files than a person works on. For the locks of a pipeline, see the list of the workspace. */
const maxShown = 500;

const noLocks = empty(
  'You hold no locks.',
  html`To lock a file, open its <a href="/">workspace</a>. Locks that you take with git or in an editor appear here too.`,
);

export function addOwnLocksPage(site: Site): void {
  addPage(site, { path: ownLocksUrl, access: 'locks:read' }, async (call) => {
    const found = await ownLocks(site.storage, call.bearer, maxShown + 1);
    const locks = found.slice(0, maxShown);
    const waiting = await countWaiting(site.storage, locks);
    const groups = [...Map.groupBy(locks, (lock) => lock.workspace_id)].map(([workspace, ofWorkspace]) => ({
      title: groupTitle(workspace, ofWorkspace),
      rows: ofWorkspace.map((lock) => row(call, lock, waiting.get(lock.id) ?? 0)),
    }));
    const main = html`
      <p>Locks held by ${userText(call.bearer.owner)}, whichever token took them.</p>
      ${locks.length === 0 ? noLocks : groupedTable(groups)}
      ${found.length > maxShown ? html`<p class="hint">These are the first ${maxShown}. The list of each workspace has all of them.</p>` : ''}`;
    return { title: 'My locks', main };
  });
}

function row({ bearer, now }: PageCall, stored: LockRow, waiting: number): Row {
  const lock = toLock(stored);
  const { path, note } = lock;
  const workspace = stored.workspace_id;
  const button = (kind: string, text: string, href: string) =>
    html`<a class="button ${kind}" href="${href}" aria-label="${text} ${safeText(path)}">${text}</a>`;
  const buttons = html`${button('extend', 'Extend', extendUrl(workspace, lock))} ${button('release', 'Release', releaseUrl(workspace, lock))}`;
  const noted = note === null ? '' : html`<div class="note faint">${userText(note)}</div>`;
  const link = html`<a href="${listUrl(workspace, { path })}">${literal(path)}</a>`;
  return [
    ['Path', html`${link}${noted}<div>${waitingLink(workspace, path, waiting)}</div>`, 'head'],
    ...lockCells(lock, now),
    [hiddenHeading('Extend or release'), grants(bearer.scopes, 'locks:write') ? buttons : '', 'nowrap'],
  ];
}

const groupTitle = (workspace: string, { length }: readonly LockRow[]): Markup =>
  html`<a href="${listUrl(workspace)}">${userText(workspace)}</a> <span class="faint">${pluralize(length, 'lock')}</span>`;
