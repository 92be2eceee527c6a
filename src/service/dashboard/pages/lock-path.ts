import { html } from 'hono/html';
import { formatDuration, parseTtl } from '../../../interface/duration.ts';
import { type LockPath, lockPathFromUrl, parseLockPath, parseNote } from '../../../interface/lock-path.ts';
import { problems } from '../../../interface/problem.ts';
import { requireFreeDisk } from '../../access/access.ts';
import { renewedLock } from '../../api/lock-responses.ts';
import { Refusal, valid } from '../../contract/response.ts';
import { lastSegment } from '../../http/request-target.ts';
import { isOwnLock } from '../../locks/change-lock.ts';
import { findCommittedLock, type LockRow, toLock } from '../../locks/find.ts';
import { readLockHistory } from '../../locks/history.ts';
import { listQueue, type QueuedRequest } from '../../locks/queue.ts';
import { waitIds } from '../../locks/wait-terms.ts';
import { lfsLockTtl } from '../../workspaces/settings.ts';
import { buttonLink, postForm } from '../elements/fields.ts';
import {
  durationField,
  holderCell,
  lockFacts,
  mayLock,
  noteField,
  periodRow,
  releaseWay,
  urls,
} from '../elements/lock.ts';
import { empty, faint, htmlTable, liveState, type Markup, type Row, time } from '../elements/markup.ts';
import { textIn } from '../frame/form.ts';
import type { View } from '../frame/layout.ts';
import {
  addWorkspaceAction,
  addWorkspacePage,
  type Notice,
  queryOf,
  type Site,
  type WorkspaceCall,
} from '../frame/page.ts';
import { withdrawal } from './own.ts';

const maxPeriods = 20;

export function addLockPathPages(site: Site): void {
  const { locks } = site;

  addWorkspacePage(site, '/paths/:path', 'locks:read', (call) =>
    pathView(site, call, valid('path', lockPathFromUrl(lastSegment(call.c.req.path)))),
  );

  /** Adds the action of a form. If it is refused, the page of the path shows the reason and the entered values. */
  const addChange = (name: string, change: (key: Change, form: URLSearchParams) => Promise<Notice | undefined>) =>
    addWorkspaceAction(site, `/locks/${name}`, 'locks:write', async (call) => {
      const path = valid('path', parseLockPath(call.form.get('path') ?? ''));
      const { workspace, bearer, form } = call;
      try {
        const notice = await change({ workspace: workspace.id, path, bearer }, form);
        return { to: urls.path(workspace.id, path), notice };
      } catch (error) {
        if (error instanceof Refusal) return pathView(site, call, path, error, form);
        throw error;
      }
    });

  addChange('extend', async (change, form) => {
    const ttl = valid('duration', parseTtl(textIn(form, 'duration')));
    // Matches only the lock that was shown, not a later one on the same path.
    const match = (held: string) => held === form.get('lock');
    renewedLock(change.path, await locks.renew(undefined, { ...change, ttl, match, isExtension: true }));
    return 'extended';
  });

  addChange('ask', async (change, form) => {
    const note = valid('note', parseNote(textIn(form, 'note')));
    await requireFreeDisk(site);
    await locks.askFor({ ...change, note });
    return undefined;
  });

  addChange('withdraw', async (change) => {
    // The page of the path shows the result, even if there was no request to withdraw.
    await locks.withdraw(change);
    return undefined;
  });
}

interface Change extends Pick<WorkspaceCall, 'bearer'> {
  readonly workspace: string;
  readonly path: LockPath;
}

async function pathView(
  site: Site,
  call: WorkspaceCall,
  path: LockPath,
  refusal?: Refusal,
  values?: URLSearchParams,
): Promise<View> {
  const { storage } = site;
  const { bearer, now } = call;
  const workspace = call.workspace.id;
  const key = { workspace, path };
  const [lock, waiting, { periods }] = await Promise.all([
    findCommittedLock(storage.read, key),
    listQueue(storage.read, key),
    readLockHistory(storage.read, { ...key, limit: maxPeriods }),
  ]);
  const own = waitIds.ofPerson(bearer.owner, key);
  const isWaiting = waiting.some(({ waitId }) => waitId === own);
  const none = empty('Nobody holds a lock on this path.', 'You can lock it now.');
  const main = html`${refusal === undefined ? '' : html`<p class="warning" role="alert">Nothing was changed. ${refusal.message}</p>`}
    ${liveState(now)}
    <section data-part="lock">${lock === undefined ? none : lockFacts(toLock(lock), now)}</section>
    <section data-part="forms">${forms(call, path, lock, isWaiting, values)}</section>
    <section data-part="waiting"><h2>Waiting for it</h2>${waitingTable(waiting, now)}${isWaiting ? withdrawal(workspace, path) : ''}</section>
    <section data-part="history"><h2>History</h2>${
      periods.length === 0
        ? html`<p>${faint('This path has no history. Old entries are removed automatically.')}</p>`
        : htmlTable(periods.map((period) => periodRow(period, now)))
    }</section>
    ${buttonLink(urls.history(workspace, { path }), 'All history')}`;
  const isOwn = lock !== undefined && isOwnLock(lock, bearer);
  // Anyone can send a link with this notice, so it is shown only if the viewer holds the lock.
  const unproven = !isOwn && queryOf(call, 'notice').notice !== 'held';
  const status = refusal ? problems[refusal.problem].status : 200;
  return { title: path, main, status, ...(unproven && { notice: undefined }) };
}

/** The actions of the viewer. They change only with the lock, so that an update never interrupts typing. */
function forms(
  { workspace, bearer }: WorkspaceCall,
  path: LockPath,
  lock: LockRow | undefined,
  isWaiting: boolean,
  values: URLSearchParams | undefined,
): Markup | string {
  if (!mayLock(bearer)) return '';
  const { id } = workspace;
  if (lock === undefined) return html`<a class="button primary" href="${urls.newLock(id, path)}">Lock it</a>`;
  const way = releaseWay(bearer, lock);
  if (way === 'own') {
    return postForm({
      action: `/workspaces/${id}/locks/extend`,
      hidden: { path, lock: lock.id },
      values: values ?? new URLSearchParams({ duration: formatDuration(lfsLockTtl(workspace)) }),
      fields: [durationField('For how long, from now')],
      button: 'Extend',
      more: buttonLink(urls.release(id, lock.id), 'Release'),
    });
  }
  const force = way === 'force' ? buttonLink(urls.release(id, lock.id), 'Force release') : '';
  if (isWaiting) return force;
  return postForm({
    action: `/workspaces/${id}/locks/ask`,
    hidden: { path },
    ...(values && { values }),
    fields: [noteField('For the holder.')],
    button: 'Keep it for me when it is free',
    more: force,
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
