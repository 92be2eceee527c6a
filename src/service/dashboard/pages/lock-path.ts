import { html } from 'hono/html';
import { formatDuration, parseTtl } from '../../../interface/duration.ts';
import { type LockPath, lockPathFromUrl, parseLockPath, parseNote } from '../../../interface/lock-path.ts';
import type { Parsed } from '../../../interface/parsed.ts';
import { problems } from '../../../interface/problem.ts';
import { requireFreeDisk } from '../../access/access.ts';
import { invalid, Refusal } from '../../contract/response.ts';
import { lastSegment } from '../../http/request-target.ts';
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
import { addWorkspaceAction, addWorkspacePage, type Site, type WorkspaceCall } from '../frame/page.ts';
import { withdrawal } from './own.ts';

const maxPeriods = 20;

export function addLockPathPages(site: Site): void {
  const { locks } = site;

  addWorkspacePage(site, '/paths/:path', 'locks:read', (call) =>
    pathView(site, call, valid(lockPathFromUrl(lastSegment(call.c.req.path)))),
  );

  addWorkspaceAction(site, '/locks/extend', 'locks:write', async (call) => {
    const { form, bearer } = call;
    const { workspace, path } = keyIn(call);
    const refuse = (reason: string, status: number) =>
      pathView(site, call, path, { problem: `Nothing was extended. ${reason}`, status, values: form });
    const ttl = parseTtl(textIn(form, 'duration'));
    if (!ttl.ok) return refuse(ttl.reason, 422);
    // Only the lock that was shown, never a later one on the same path.
    const match = (held: string) => held === form.get('lock');
    const extension = { workspace, path, ttl: ttl.value, bearer, match, isExtension: true };
    const result = await locks.renew(undefined, extension);
    if (result.kind === 'renewed') return { to: urls.path(workspace, path), notice: 'extended' };
    if (result.kind === 'lasts-longer') {
      return refuse('The lock already lasts longer than that. Choose a longer time.', 422);
    }
    if (result.kind === 'another-owner') return refuse('Only its holder can extend a lock.', 412);
    return refuse('The lock you were shown has ended.', 412);
  });

  addWorkspaceAction(site, '/locks/ask', 'locks:write', async (call) => {
    const { form, bearer } = call;
    const { workspace, path } = keyIn(call);
    const note = parseNote(textIn(form, 'note'));
    if (!note.ok) return pathView(site, call, path, { problem: note.reason, status: 422, values: form });
    try {
      await requireFreeDisk(site);
      await locks.askFor({ workspace, path, bearer, note: note.value });
      return { to: urls.path(workspace, path) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { status } = problems[error.problem];
      return pathView(site, call, path, { problem: error.message, status, values: form });
    }
  });

  addWorkspaceAction(site, '/locks/withdraw', 'locks:write', async (call) => {
    const { workspace, path } = keyIn(call);
    // The page of the path shows the result, even if there was nothing to withdraw.
    await locks.withdraw({ workspace, path, bearer: call.bearer });
    return { to: urls.path(workspace, path) };
  });
}

const keyIn = ({ workspace: { id: workspace }, form }: WorkspaceCall & { readonly form: URLSearchParams }) => ({
  workspace,
  path: valid(parseLockPath(form.get('path') ?? '')),
});

function valid(path: Parsed<LockPath>): LockPath {
  if (path.ok) return path.value;
  throw invalid({ pointer: '#/path', detail: path.reason });
}

interface Rejection {
  readonly problem: string;
  readonly status: number;
  readonly values: URLSearchParams;
}

async function pathView(site: Site, call: WorkspaceCall, path: LockPath, rejection?: Rejection): Promise<View> {
  const { storage } = site;
  const { bearer, now } = call;
  const workspace = call.workspace.id;
  const key = { workspace, path };
  const [lock, waiting, { periods }] = await Promise.all([
    findCommittedLock(storage, key),
    listQueue(storage.read, key),
    readLockHistory(storage, { ...key, limit: maxPeriods }),
  ]);
  const own = waitIds.ofPerson(bearer.id, key);
  const isWaiting = waiting.some(({ waitId }) => waitId === own);
  const none = empty('Nobody holds a lock on this path.', 'It can be locked now.');
  const main = html`${rejection === undefined ? '' : html`<p class="warning" role="alert">${rejection.problem}</p>`}
    ${liveState(now)}
    <section data-part="lock">${lock === undefined ? none : lockFacts(toLock(lock), now)}</section>
    <section data-part="forms">${forms(call, path, lock, isWaiting, rejection?.values)}</section>
    <section data-part="waiting"><h2>Waiting for it</h2>${waitingTable(waiting, now)}${isWaiting ? withdrawal(workspace, path) : ''}</section>
    <section data-part="history"><h2>History</h2>${
      periods.length === 0
        ? html`<p>${faint('This path has no history. Old entries are removed.')}</p>`
        : htmlTable(periods.map((period) => periodRow(period, now)))
    }</section>
    ${buttonLink(urls.history(workspace, { path }), 'All history')}`;
  return { title: path, main, status: rejection?.status ?? 200 };
}

/** What the viewer can do. It changes only with the lock, so that nobody is interrupted while typing. */
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
