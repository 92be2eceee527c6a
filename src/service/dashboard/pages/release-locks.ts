import { html } from 'hono/html';
import { pluralize } from '../../../interface/format.ts';
import { actorOf } from '../../access/caller.ts';
import { type LockRow, toLock } from '../../locks/find.ts';
import { locksWithIds } from '../../locks/list.ts';
import { asTimestamp } from '../../storage/timestamp.ts';
import { buttonLink, postForm, textInput } from '../elements/fields.ts';
import { htmlTable, type Row } from '../elements/list.ts';
import { listUrl, lockFacts, pathLink, pathUrl, releaseWay, shortRun } from '../elements/lock.ts';
import { empty, time, userText } from '../elements/text.ts';
import { filledIn } from '../frame/form.ts';
import { addWorkspaceAction, addWorkspacePage, type Site, type WorkspaceCall } from '../frame/page.ts';

const route = { path: '/locks/release', access: 'locks:write' } as const;

/** More than a page of locks. */
const maxIds = 200;

/** Releases the locks that were shown, one or several, never later ones on the same paths. */
export function addReleasePages(site: Site): void {
  async function confirm(call: WorkspaceCall, ids: readonly string[], rejection?: Rejection) {
    const held = await selectedLocks(site, call, ids);
    const locks = held.filter((row) => releaseWay(call.bearer, row) !== 'none');
    if (locks.length > 0) return confirmation(call, locks, rejection);
    if (held.length > 0) {
      const main = html`<p class="warning">Only the holder, or a token with the scope <code>locks:admin</code>, can release a lock.
        Nothing was released.</p>`;
      return { title: 'Someone else holds this', main, status: 403 };
    }
    const [what, next] =
      ids.length === 0
        ? (['No lock is selected.', 'Check the boxes of those that you want to release.'] as const)
        : ([
            'Nothing was released.',
            'A lock ends when it is released or expires: what you selected has ended.',
          ] as const);
    const back = buttonLink(listUrl(call.workspace.id), 'Back to the locks');
    return { title: 'Release locks', main: html`${empty(what, next)}${back}`, status: ids.length === 0 ? 422 : 404 };
  }

  addWorkspacePage(site, route, (call) => {
    const query = new URLSearchParams(new URL(call.c.req.url).search);
    return confirm(call, query.getAll('lock'));
  });

  addWorkspaceAction(site, route, async (call) => {
    const { form, bearer, c } = call;
    const workspace = call.workspace.id;
    const ids = form.text('lock').split(' ');
    const reason = form.text('reason').trim();
    const locks = (await selectedLocks(site, call, ids)).filter((row) => releaseWay(bearer, row) !== 'none');
    const force = countForced(call, locks) > 0;
    const problem = force ? reasonProblem(reason) : undefined;
    if (problem !== undefined) return confirm(call, ids, { reason, problem });
    const releaser = { ...actorOf(c), owner: bearer.owner, force, reason };
    const requests = locks.map(({ id, path }) => ({ workspace, path, match: (held: string) => held === id, releaser }));
    const releases = await site.locks.commitReleases(workspace, (_, release) => release(requests));
    const released = releases.filter(({ kind }) => kind === 'released').length;
    if (released === 0) return confirm(call, ids);
    const [only] = locks;
    if (only !== undefined && ids.length === 1) return { to: pathUrl(workspace, only.path), notice: 'released' };
    return { to: listUrl(workspace), notice: released === ids.length ? 'released-all' : 'released-some' };
  });
}

/** The active locks with these ids. Invalid ones may contain characters that a database rejects. */
async function selectedLocks({ storage }: Site, { workspace }: WorkspaceCall, ids: readonly string[]) {
  const valid = ids.filter((id) => /^[!-~]{1,128}$/.test(id)).slice(0, maxIds);
  return valid.length === 0 ? [] : locksWithIds(storage, workspace.id, valid);
}

interface Rejection {
  readonly reason: string;
  readonly problem: string;
}

function confirmation(call: WorkspaceCall, rows: readonly LockRow[], rejection?: Rejection) {
  const forced = countForced(call, rows);
  const [only] = rows;
  const isOne = only !== undefined && rows.length === 1;
  const main = html`<p class="warning">${warningOf(forced, rows)}</p>
    ${isOne ? lockFacts(toLock(only), call.now) : lockTable(call, rows)}
    ${postForm({
      action: `/workspaces/${call.workspace.id}/locks/release`,
      hidden: { lock: rows.map(({ id }) => id).join(' ') },
      values: filledIn({ reason: rejection?.reason ?? '' }),
      fields: forced > 0 ? [reasonField] : [],
      errors: { reason: rejection?.problem },
      button: `${forced > 0 ? 'Force release' : 'Release'}${isOne ? '' : ` ${pluralize(rows.length, 'lock')}`}`,
      kind: 'danger',
      cancel: buttonLink(listUrl(call.workspace.id), 'Cancel'),
    })}`;
  return { title: isOne ? 'Release a lock' : 'Release locks', main, status: rejection === undefined ? 200 : 422 };
}

const countForced = ({ bearer }: WorkspaceCall, rows: readonly LockRow[]): number =>
  rows.filter((row) => releaseWay(bearer, row) === 'force').length;

function warningOf(forced: number, rows: readonly LockRow[]): string {
  const relies = 'A job that is still running relies on its lock';
  const ended = 'Make sure that the run has ended.';
  if (forced > 0) {
    const whose = rows.length === 1 ? 'this lock' : `${forced} of these locks`;
    return `Someone else holds ${whose}. ${relies}, and may overwrite changes that others make now. ${ended}`;
  }
  const own =
    rows.length === 1
      ? 'Once it is released, others can lock the file: push your changes first.'
      : 'Once they are released, others can lock the files: push your changes first.';
  return rows.some(({ origin }) => origin !== null) ? `${own} ${relies}. ${ended}` : own;
}

/** The most important details of several locks. */
const lockTable = ({ workspace, bearer, now }: WorkspaceCall, rows: readonly LockRow[]) =>
  htmlTable(
    rows.map(
      (row): Row => [
        ['Path', pathLink(workspace.id, row.path), 'head'],
        ['Holder', releaseWay(bearer, row) === 'own' ? 'you' : userText(row.owner)],
        ['From run', shortRun(row.origin)],
        ['Since', time(asTimestamp(row.acquired_at), now)],
      ],
    ),
  );

const maxReasonLength = 500;

function reasonProblem(reason: string): string | undefined {
  if (reason === '') return 'Enter a reason: the holder of the lock will ask.';
  return reason.length > maxReasonLength ? `It must not be longer than ${maxReasonLength} characters.` : undefined;
}

const reasonField = textInput('reason', 'Reason', {
  hint: 'It is recorded in the audit, with your name.',
  rows: 3,
  attributes: html` maxlength="${maxReasonLength}" required autofocus`,
});
