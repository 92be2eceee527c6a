import { html } from 'hono/html';
import { type LockPath, lockPathFromUrl } from '../../../interface/lock-path.ts';
import { grants } from '../../../interface/scopes.ts';
import { invalid } from '../../contract/problem.ts';
import { lastSegment } from '../../http/request-target.ts';
import type { StoredLock } from '../../locks/find.ts';
import { lockOf } from '../../locks/lock-row.ts';
import { type HistoryPage, readLockHistory } from '../../locks/read-history.ts';
import type { QueuedRequest } from '../../locks/read-queue.ts';
import { postForm } from '../elements/fields.ts';
import { htmlTable, listPage, type Row, urlWith } from '../elements/list.ts';
import { askUrl, changeRow, lockFacts, newLockUrl, originLink } from '../elements/lock.ts';
import { pathUrl, releaseUrl } from '../elements/lock-list.ts';
import { empty, faint, liveState, type Markup, time, userText } from '../elements/text.ts';
import { addWorkspacePage, type PageCall, type Site } from '../frame/page.ts';
import { historyPositionOf, historyUrl, positionText } from './lock-history.ts';
import { releaseTexts, releaseWay } from './lock-table.ts';

const pageSize = 20;

interface PathState {
  readonly workspace: string;
  readonly path: LockPath;
  readonly lock: StoredLock | undefined;
  readonly waiting: readonly QueuedRequest[];
  /** Whether the viewer has asked for the lock. */
  readonly asked: boolean;
  readonly history: HistoryPage;
}

export function addLockPathPage(site: Site): void {
  const { storage, locks } = site;

  addWorkspacePage(site, { path: '/paths/:path', access: 'locks:read', isCharged: true }, async (call) => {
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
    const lock = found?.live ? found : undefined;
    const own = locks.placeOf({ ...key, bearer: call.bearer });
    const asked = waiting.some(({ placeId }) => placeId === own);
    const state = { workspace, path, lock, waiting, asked, history };
    return {
      title: path,
      actions: html`<button type="button" value="${path}" data-copies hidden>Copy path</button> <span data-part="action">${action(call, state)}</span>`,
      main: show(call, state, before !== undefined),
      script: 'live.js',
    };
  });
}

function action({ bearer }: PageCall, { workspace, path, lock: row, asked }: PathState): Markup | string {
  if (!grants(bearer.scopes, 'locks:write')) return '';
  if (row === undefined) {
    return html`<a class="button primary" href="${newLockUrl(workspace, path)}">Lock it</a>`;
  }
  const way = releaseWay(bearer, row);
  const ask = html`<a class="button primary" href="${askUrl(workspace, path)}">Ask for it</a>`;
  if (way === 'none') return asked ? '' : ask;
  return html`${way === 'own' || asked ? '' : ask} <a class="button${way === 'force' ? ' danger' : ''}" href="${releaseUrl(workspace, row)}">${releaseTexts[way]}</a>`;
}

function show(call: PageCall, state: PathState, isLater: boolean): Markup {
  const { workspace, path } = state;
  return html`${liveState(`/workspaces/${workspace}/locks/events`, call.now)}
    <section data-part="lock">${present(call, state)}</section>
    <h2>Waiting for it</h2>
    <section data-part="waiting">${waitingTable(call, state.waiting)}</section>
    <section data-part="withdrawal">${state.asked ? withdrawal(state) : ''}</section>
    <div class="heading"><h2>History</h2><div class="actions"><a class="button" href="${historyUrl(workspace, { prefix: path.slice(0, path.lastIndexOf('/') + 1) })}">History of its folder</a></div></div>
    <section data-part="history">${pastTable(call, state, isLater)}</section>`;
}

const present = ({ now }: PageCall, { lock }: PathState): Markup =>
  lock === undefined
    ? empty('Nobody holds a lock on this path.', 'It can be locked now.')
    : lockFacts(lockOf(lock), now);

const withdrawal = ({ workspace, path }: PathState): Markup =>
  postForm({ action: `/workspaces/${workspace}/locks/withdraw`, hidden: { path }, button: 'Withdraw' });

function waitingTable({ now }: PageCall, waiting: readonly QueuedRequest[]): Markup {
  if (waiting.length === 0) return html`<p>${faint('Nobody waits for this lock.')}</p>`;
  const rows = waiting.map(
    ({ position, owner, origin, since, priority, note }): Row => [
      ['Place', String(position), 'head'],
      ['Who', userText(owner)],
      ['From run', originLink(origin, 'short')],
      ['Since', time(since, now)],
      ['Priority', priority],
      ['Note', note === null ? '' : userText(note)],
    ],
  );
  return htmlTable(rows);
}

function pastTable({ now }: PageCall, { workspace, path, history }: PathState, isLater: boolean): Markup {
  const page = pathUrl(workspace, path);
  const { changes, next } = history;
  return listPage({
    rows: changes.map((change) => changeRow(change, now)),
    isLater,
    next: next && positionText(next),
    urlOf: (before) => urlWith(page, { before }),
    none: html`<p>${faint('This path has no history. Old entries are removed.')}</p>`,
  });
}
