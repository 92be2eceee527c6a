import { html } from 'hono/html';
import { type LockPath, lockPathFromUrl } from '../../../interface/lock-path.ts';
import { grants } from '../../../interface/scopes.ts';
import { invalid } from '../../contract/problem.ts';
import { lastSegment } from '../../http/request-target.ts';
import type { StoredLock } from '../../locks/find.ts';
import { toLock } from '../../locks/lock-row.ts';
import type { QueuedRequest } from '../../locks/queue.ts';
import { readLockHistory } from '../../locks/read-history.ts';
import { postForm } from '../elements/fields.ts';
import { htmlTable, listPage, type Row, urlWith } from '../elements/list.ts';
import { askUrl, changeRow, lockFacts, newLockUrl, originLink } from '../elements/lock.ts';
import { folderOf, pathUrl, releaseUrl } from '../elements/lock-list.ts';
import { empty, faint, liveState, type Markup, time, userText } from '../elements/text.ts';
import { addWorkspacePage, type PageCall, type Site } from '../frame/page.ts';
import { historyPositionOf, historyUrl, positionText } from './lock-history.ts';
import { releaseTexts, releaseWay } from './lock-table.ts';

const pageSize = 20;

export function addLockPathPage(site: Site): void {
  const { storage, locks } = site;

  addWorkspacePage(site, { path: '/paths/:path', access: 'locks:read' }, async (call) => {
    const before = historyPositionOf(call);
    const parsed = lockPathFromUrl(lastSegment(call.c.req.path));
    if (!parsed.ok) throw invalid({ pointer: '#/path', detail: parsed.reason });
    const path = parsed.value;
    const workspace = call.workspace.id;
    const key = { workspace, path };
    const [found, waiting, history] = await Promise.all([
      locks.find(key),
      locks.queue(key),
      readLockHistory(storage, { ...key, before, limit: pageSize }),
    ]);
    const lock = found?.isActive ? found : undefined;
    const own = locks.waitIdOf({ ...key, bearer: call.bearer });
    const isWaiting = waiting.some(({ waitId }) => waitId === own);
    const { changes, next } = history;
    const none = empty('Nobody holds a lock on this path.', 'It can be locked now.');
    const main = html`${liveState(`/workspaces/${workspace}/locks/events`, call.now)}
      <section data-part="lock">${lock === undefined ? none : lockFacts(toLock(lock), call.now)}</section>
      <h2>Waiting for it</h2>
      <section data-part="waiting">${waitingTable(call, waiting)}</section>
      <section data-part="withdrawal">${isWaiting ? withdrawal(key) : ''}</section>
      <div class="heading"><h2>History</h2><div class="actions"><a class="button" href="${historyUrl(workspace, { prefix: folderOf(path) })}">History of its folder</a></div></div>
      <section data-part="history">${listPage({
        rows: changes.map((change) => changeRow(change, call.now)),
        isLater: before !== undefined,
        next: next && positionText(next),
        urlOf: (before) => urlWith(pathUrl(workspace, path), { before }),
        none: html`<p>${faint('This path has no history. Old entries are removed.')}</p>`,
      })}</section>`;
    const actions = html`<button type="button" value="${path}" data-copies hidden>Copy path</button>
      <span data-part="action">${lockAction(call, key, lock, isWaiting)}</span>`;
    return { title: path, actions, main, script: 'live.js' };
  });
}

interface PathKey {
  readonly workspace: string;
  readonly path: LockPath;
}

function lockAction(
  { bearer }: PageCall,
  { workspace, path }: PathKey,
  lock: StoredLock | undefined,
  isWaiting: boolean,
): Markup | string {
  if (!grants(bearer.scopes, 'locks:write')) return '';
  if (lock === undefined) return html`<a class="button primary" href="${newLockUrl(workspace, path)}">Lock it</a>`;
  const way = releaseWay(bearer, lock);
  const ask = html`<a class="button primary" href="${askUrl(workspace, path)}">Ask for it</a>`;
  if (way === 'none') return isWaiting ? '' : ask;
  return html`${way === 'own' || isWaiting ? '' : ask} <a class="button${way === 'force' ? ' danger' : ''}" href="${releaseUrl(workspace, lock)}">${releaseTexts[way]}</a>`;
}

const withdrawal = ({ workspace, path }: PathKey): Markup =>
  postForm({ action: `/workspaces/${workspace}/locks/withdraw`, hidden: { path }, button: 'Withdraw' });

function waitingTable({ now }: PageCall, waiting: readonly QueuedRequest[]): Markup {
  if (waiting.length === 0) return html`<p>${faint('No one is waiting.')}</p>`;
  const rows = waiting.map(
    ({ position, owner, origin, since, priority, note, kept_until }): Row => [
      ['Place', String(position), 'head'],
      ['Who', userText(owner)],
      ['From run', originLink(origin, 'short')],
      ['Since', time(since, now)],
      ['Priority', priority],
      ['Kept until', kept_until === undefined ? '' : time(kept_until, now)],
      ['Note', note === null ? '' : userText(note)],
    ],
  );
  return htmlTable(rows);
}
