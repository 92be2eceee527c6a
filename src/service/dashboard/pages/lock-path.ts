import { html } from 'hono/html';
import { formatDuration, parseTtl } from '../../../interface/duration.ts';
import { type LockPath, lockPathFromUrl, parseLockPath, parseNote } from '../../../interface/lock-path.ts';
import { requireFreeDisk } from '../../access/access.ts';
import { valid } from '../../contract/response.ts';
import { lastSegment } from '../../http/request-target.ts';
import { isOwnLock } from '../../locks/change-lock.ts';
import { findCommittedLock, type LockRow, toLock } from '../../locks/find.ts';
import { readLockHistory } from '../../locks/history.ts';
import { listQueue, type QueuedRequest } from '../../locks/queue.ts';
import { orThrow } from '../../locks/refusals.ts';
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
import { readFields } from '../frame/form.ts';
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

  const page = (call: WorkspaceCall) => pathView(site, call);
  addWorkspacePage(site, '/paths/:path', 'locks:read', page);

  const addChange = (name: string, change: (key: Change, form: URLSearchParams) => Promise<Notice | undefined>) =>
    addWorkspaceAction(site, `/locks/${name}`, 'locks:write', page, async ({ workspace, bearer, form }) => {
      const path = pathIn(form);
      const notice = await change({ workspace: workspace.id, path, bearer }, form);
      return { to: urls.path(workspace.id, path), notice };
    });

  addChange('extend', async (change, form) => {
    const { duration: ttl } = readFields(form, { duration: parseTtl });
    // Matches only the lock that was shown, not a later one on the same path.
    const match = (held: string) => held === form.get('lock');
    orThrow(await locks.renew(undefined, { ...change, ttl, match, isExtension: true }));
    return 'extended';
  });

  addChange('ask', async (change, form) => {
    const { note } = readFields(form, { note: parseNote });
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

const pathIn = (form: URLSearchParams): LockPath => valid('path', parseLockPath(form.get('path') ?? ''));

async function pathView({ storage }: Site, call: WorkspaceCall): Promise<View> {
  const { c, bearer, now, form, refusal } = call;
  const workspace = call.workspace.id;
  const path = refusal ? pathIn(form) : valid('path', lockPathFromUrl(lastSegment(c.req.path)));
  const key = { workspace, path };
  const [lock, waiting, { periods }] = await Promise.all([
    findCommittedLock(storage.read, key),
    listQueue(storage.read, key),
    readLockHistory(storage.read, { ...key, limit: maxPeriods }),
  ]);
  const own = waitIds.ofPerson(bearer.owner, key);
  const isWaiting = waiting.some(({ waitId }) => waitId === own);
  const none = empty('Nobody holds a lock on this path.', 'You can lock it now.');
  // After a refusal, the URL is that of the action, which cannot be loaded again.
  const main = html`${refusal ? '' : liveState(now)}
    <section data-part="lock">${lock === undefined ? none : lockFacts(toLock(lock), now)}</section>
    <section data-part="forms">${forms(call, path, lock, isWaiting)}</section>
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
  return { title: path, main, ...(unproven && { notice: undefined }) };
}

/** The actions of the viewer. They change only with the lock, so that an update never interrupts typing. */
function forms(call: WorkspaceCall, path: LockPath, lock: LockRow | undefined, isWaiting: boolean): Markup | string {
  const { workspace, bearer } = call;
  if (!mayLock(bearer)) return '';
  const { id } = workspace;
  if (lock === undefined) return html`<a class="button primary" href="${urls.newLock(id, path)}">Lock it</a>`;
  const way = releaseWay(bearer, lock);
  if (way === 'own') {
    return postForm({
      action: `/workspaces/${id}/locks/extend`,
      hidden: { path, lock: lock.id },
      defaults: new URLSearchParams({ duration: formatDuration(lfsLockTtl(workspace)) }),
      sent: call,
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
    sent: call,
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
