import { html } from 'hono/html';
import { type LockPath, lockPathFromUrl, parseHeldPath } from '../../../interface/lock-path.ts';
import type { Parsed } from '../../../interface/parsed.ts';
import { invalid } from '../../contract/problem.ts';
import { lastSegment } from '../../http/request-target.ts';
import { type LockRow, toLock } from '../../locks/lock-row.ts';
import type { QueuedRequest } from '../../locks/queue.ts';
import { readLockHistory } from '../../locks/read-history.ts';
import { asTimestamp } from '../../storage/timestamp.ts';
import { htmlTable, listPage, type Row, urlWith } from '../elements/list.ts';
import { changeRow, holderCell, lockFacts, newLockUrl } from '../elements/lock.ts';
import { folderOf, pathUrl } from '../elements/lock-list.ts';
import { empty, faint, liveState, type Markup, time } from '../elements/text.ts';
import { livePage } from '../frame/live-page.ts';
import { addWorkspacePage, queryOf, type Site, type WorkspaceCall } from '../frame/page.ts';
import { historyPositionOf, historyUrl, positionText } from './lock-history.ts';
import { lockLinks, mayLock } from './lock-table.ts';
import { withdrawal } from './own.ts';

const pageSize = 20;

/** Jobs lock other things than files, too. */
const notInBranches = html`<p class="warning">No synced branch has this file. It may be new, or its path may be misspelled: then
  the lock protects nothing.</p>`;

const access = 'locks:read';

export function addLockPathPage(site: Site): void {
  const { storage, locks } = site;

  addWorkspacePage(site, { path: '/paths/:path', access }, async (call) => {
    const before = historyPositionOf(call);
    const path = valid(lockPathFromUrl(lastSegment(call.c.req.path)));
    const workspace = call.workspace.id;
    const key = { workspace, path };
    const [{ found, lock, waiting }, history] = await Promise.all([
      readPath(site, key),
      readLockHistory(storage, { ...key, before, limit: pageSize }),
    ]);
    const isInNoBranch = lock?.origin === null && (await site.suggestPaths.isInNoBranch(call.workspace, path));
    const own = locks.waitIdOf({ ...key, bearer: call.bearer });
    const isWaiting = waiting.some(({ waitId }) => waitId === own);
    const { changes, next } = history;
    const none = empty(
      'Nobody holds a lock on this path.',
      found?.isTaken
        ? html`Its last lock expired. It can be locked ${time(asTimestamp(found.expires_at + found.delay_ms), call.now)}.`
        : 'It can be locked now.',
    );
    const main = html`${liveState(urlWith(`/workspaces/${workspace}/path/events`, { path }), call.now)}
      <section data-part="lock">${lock === undefined ? none : lockFacts(toLock(lock), call.now)}${isInNoBranch ? notInBranches : ''}</section>
      <section data-part="waiting"><h2>Waiting for it</h2>${waitingTable(call, waiting)}${isWaiting ? withdrawal(workspace, path) : ''}</section>
      <div class="heading"><h2>History</h2><div class="actions"><a class="button" href="${historyUrl(workspace, { prefix: folderOf(path) })}">History of its folder</a></div></div>
      <section data-part="history">${listPage({
        rows: changes.map((change) => changeRow(change, call.now)),
        isLater: before !== undefined,
        next: next && positionText(next),
        urlOf: (before) => urlWith(pathUrl(workspace, path), { before }),
        none: html`<p>${faint('This path has no history. Old entries are removed.')}</p>`,
      })}</section>`;
    const actions = html`<button type="button" value="${path}" data-copies hidden>Copy path</button>
      <span class="bare" data-part="action">${pathActions(call, path, lock, isWaiting)}</span>`;
    return { title: path, actions, main, script: 'live.js' };
  });

  const see = async (call: WorkspaceCall) => {
    const key = { workspace: call.workspace.id, path: valid(parseHeldPath(queryOf(call, 'path').path)) };
    const read = async (): Promise<string> => {
      const { found, lock, waiting } = await readPath(site, key);
      return JSON.stringify([found?.id, found?.expires_at, found?.isTaken, lock === undefined, waiting]);
    };
    return { key: pathUrl(key.workspace, key.path), read };
  };
  addWorkspacePage(site, { path: '/path/events', access }, livePage(site, see));
}

function valid(path: Parsed<LockPath>): LockPath {
  if (path.ok) return path.value;
  throw invalid({ pointer: '#/path', detail: path.reason });
}

async function readPath({ locks }: Site, key: { readonly workspace: string; readonly path: LockPath }) {
  const [found, waiting] = await Promise.all([locks.find(key), locks.queue(key)]);
  return { found, lock: found?.isActive ? found : undefined, waiting };
}

function pathActions(call: WorkspaceCall, path: LockPath, lock: LockRow | undefined, isWaiting: boolean) {
  if (!mayLock(call)) return '';
  if (lock !== undefined) return lockLinks(call, lock, { kind: 'button', isWaiting });
  return html`<a class="button primary" href="${newLockUrl(call.workspace.id, path)}">Lock it</a>`;
}

function waitingTable({ now }: WorkspaceCall, waiting: readonly QueuedRequest[]): Markup {
  if (waiting.length === 0) return html`<p>${faint('No one is waiting.')}</p>`;
  const rows = waiting.map(
    ({ position, since, priority, kept_until, ...wait }): Row => [
      ['Place', String(position), 'head'],
      ['Who', holderCell(wait)],
      ['Since', time(since, now)],
      ['Priority', priority],
      ['Kept until', kept_until === undefined ? '' : time(kept_until, now)],
    ],
  );
  return htmlTable(rows);
}
