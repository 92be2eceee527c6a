import { html } from 'hono/html';
import { formatDuration } from '../../../interface/duration.ts';
import { parseNote } from '../../../interface/lock-note.ts';
import { type LockPath, lockPathFromUrl, parseHeldPath } from '../../../interface/lock-path.ts';
import type { Parsed } from '../../../interface/parsed.ts';
import { problems } from '../../../interface/problem.ts';
import { parseTtl } from '../../../interface/ttl.ts';
import { requireFreeDisk } from '../../access/access.ts';
import { askedRequest } from '../../api/queue.ts';
import { invalid, Refusal } from '../../contract/problem.ts';
import { lastSegment } from '../../http/request-target.ts';
import { type LockRow, toLock } from '../../locks/find.ts';
import type { QueuedRequest } from '../../locks/line.ts';
import { readLockHistory } from '../../locks/read-history.ts';
import { asTimestamp } from '../../storage/timestamp.ts';
import { lfsLockTtl } from '../../workspaces/settings.ts';
import { buttonLink, postForm } from '../elements/fields.ts';
import { htmlTable, listPage, type Row, urlWith } from '../elements/list.ts';
import {
  durationField,
  folderOf,
  holderCell,
  lockFacts,
  mayLock,
  newLockUrl,
  noteField,
  pathUrl,
  periodRow,
  releaseUrl,
  releaseWay,
} from '../elements/lock.ts';
import { empty, faint, liveState, type Markup, time } from '../elements/text.ts';
import { type Form, filledIn } from '../frame/form.ts';
import { addWorkspaceAction, addWorkspacePage, type Site, type View, type WorkspaceCall } from '../frame/page.ts';
import { historyPositionOf, historyUrl, positionText } from './lock-history.ts';
import { withdrawal } from './own.ts';

const pageSize = 20;
const access = 'locks:write';

export function addLockPathPages(site: Site): void {
  const { locks } = site;

  addWorkspacePage(site, { path: '/paths/:path', access: 'locks:read' }, (call) =>
    pathView(site, call, valid(lockPathFromUrl(lastSegment(call.c.req.path)))),
  );

  addWorkspaceAction(site, { path: '/locks/extend', access }, async (call) => {
    const { form, bearer } = call;
    const workspace = call.workspace.id;
    const path = valid(parseHeldPath(form.text('path')));
    const ttl = parseTtl(form.text('duration').trim());
    if (!ttl.ok) return pathView(site, call, path, { form, duration: ttl.reason, status: 422 });
    // Only the lock that was shown, never a later one on the same path.
    const match = (held: string) => held === form.text('lock');
    const { kind } = await locks.extend({ workspace, path, ttl: ttl.value, bearer, match });
    if (kind === 'renewed') return { to: pathUrl(workspace, path), notice: 'extended' };
    if (kind === 'not-longer') {
      return pathView(site, call, path, { form, duration: 'The lock already lasts longer. Choose more.', status: 422 });
    }
    const warning =
      kind === 'another-owner' ? 'Only its holder can extend a lock.' : 'The lock you were shown has ended.';
    return pathView(site, call, path, { warning: `Nothing was extended. ${warning}`, status: 412 });
  });

  addWorkspaceAction(site, { path: '/locks/ask', access }, async (call) => {
    const { form, bearer } = call;
    const workspace = call.workspace.id;
    const path = valid(parseHeldPath(form.text('path')));
    const note = parseNote(form.text('note'));
    if (!note.ok) return pathView(site, call, path, { form, note: note.reason, status: 422 });
    try {
      requireFreeDisk(site);
      askedRequest(path, await locks.askFor({ workspace, path, bearer, note: note.value }));
      return { to: pathUrl(workspace, path) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return pathView(site, call, path, { form, warning: error.message, status: problems[error.problem].status });
    }
  });

  addWorkspaceAction(site, { path: '/locks/withdraw', access }, async ({ workspace: { id }, form, bearer }) => {
    const path = valid(parseHeldPath(form.text('path')));
    // The page of the path shows the result, also if there was nothing to withdraw.
    await locks.withdraw({ workspace: id, path, bearer });
    return { to: pathUrl(id, path) };
  });
}

function valid(path: Parsed<LockPath>): LockPath {
  if (path.ok) return path.value;
  throw invalid({ pointer: '#/path', detail: path.reason });
}

/** Why nothing was done: at one of the fields, or in general. */
interface Rejection {
  readonly form?: Form;
  readonly duration?: string;
  readonly note?: string;
  readonly warning?: string;
  readonly status?: number;
}

/** Jobs lock other things than files, too. */
const notInBranches = html`<p class="warning">No synced branch has this file. It may be new, or its path may be misspelled: then
  the lock protects nothing.</p>`;

async function pathView(site: Site, call: WorkspaceCall, path: LockPath, rejection: Rejection = {}): Promise<View> {
  const { storage, locks } = site;
  const { bearer, now } = call;
  const before = historyPositionOf(call);
  const workspace = call.workspace.id;
  const key = { workspace, path };
  const [found, waiting, history] = await Promise.all([
    locks.find(key),
    locks.queue(key),
    readLockHistory(storage, { ...key, before, limit: pageSize }),
  ]);
  const lock = found?.isActive ? found : undefined;
  const isInNoBranch = lock?.origin === null && (await site.findInMirror(call.workspace, path)) === 'missing';
  const own = locks.waitIdOf({ ...key, bearer });
  const isWaiting = waiting.some(({ waitId }) => waitId === own);
  const none = empty(
    'Nobody holds a lock on this path.',
    found?.isTaken
      ? html`Its last lock expired. It can be locked ${time(asTimestamp(found.expires_at + found.delay_ms), now)}.`
      : 'It can be locked now.',
  );
  const main = html`${rejection.warning === undefined ? '' : html`<p class="warning" role="alert">${rejection.warning}</p>`}
    ${liveState(now)}
    <section data-part="lock">${lock === undefined ? none : lockFacts(toLock(lock), now)}${isInNoBranch ? notInBranches : ''}</section>
    <section data-part="forms">${forms(call, path, lock, isWaiting, rejection)}</section>
    <section data-part="waiting"><h2>Waiting for it</h2>${waitingTable(waiting, now)}${isWaiting ? withdrawal(workspace, path) : ''}</section>
    <div class="heading"><h2>History</h2><div class="actions">${buttonLink(historyUrl(workspace, { prefix: folderOf(path) }), 'History of its folder')}</div></div>
    <section data-part="history">${listPage({
      rows: history.periods.map((period) => periodRow(period, now)),
      isLater: before !== undefined,
      next: history.next && positionText(history.next),
      urlOf: (before) => urlWith(pathUrl(workspace, path), { before }),
      none: html`<p>${faint('This path has no history. Old entries are removed.')}</p>`,
    })}</section>`;
  return { title: path, main, status: rejection.status ?? 200 };
}

/** What the viewer can do. It changes only with the lock, so that nobody is interrupted while typing. */
function forms(
  call: WorkspaceCall,
  path: LockPath,
  lock: LockRow | undefined,
  isWaiting: boolean,
  rejection: Rejection,
) {
  const workspace = call.workspace.id;
  const { form, duration, note } = rejection;
  if (!mayLock(call.bearer)) return '';
  if (lock === undefined) return html`<a class="button primary" href="${newLockUrl(workspace, path)}">Lock it</a>`;
  const way = releaseWay(call.bearer, lock);
  if (way === 'own') {
    return postForm({
      action: `/workspaces/${workspace}/locks/extend`,
      hidden: { path, lock: lock.id },
      values: form ?? filledIn({ duration: formatDuration(lfsLockTtl(call.workspace)) }),
      fields: [durationField('For how long, from now')],
      errors: { duration },
      button: 'Extend',
      cancel: buttonLink(releaseUrl(workspace, lock.id), 'Release'),
    });
  }
  const force = way === 'force' ? buttonLink(releaseUrl(workspace, lock.id), 'Force release') : '';
  if (isWaiting) return force;
  return postForm({
    action: `/workspaces/${workspace}/locks/ask`,
    ...(form && { values: form }),
    hidden: { path },
    fields: [noteField('For the holder.')],
    errors: { note },
    button: 'Keep it for me when it is free',
    ...(force !== '' && { cancel: force }),
  });
}

function waitingTable(waiting: readonly QueuedRequest[], now: number): Markup {
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
