import { html } from 'hono/html';
import { pluralize } from '../../../interface/format.ts';
import { parseNote } from '../../../interface/lock-path.ts';
import { actorOf } from '../../access/caller.ts';
import { type LockRow, locksWithIds, toLock } from '../../locks/find.ts';
import { buttonLink, postForm, textInput } from '../elements/fields.ts';
import { holderCell, lockCells, pathLink, releaseWay, urls } from '../elements/lock.ts';
import { empty, htmlTable, type Row } from '../elements/markup.ts';
import { textIn } from '../frame/form.ts';
import type { View } from '../frame/layout.ts';
import { addWorkspaceAction, addWorkspacePage, type Site, type WorkspaceCall } from '../frame/page.ts';

/** More than one page of locks. */
const maxIds = 200;

/** Releases exactly the locks that were shown, never later ones on the same paths. */
export function addReleasePages(site: Site): void {
  addWorkspacePage(site, '/locks/release', 'locks:write', (call) =>
    confirm(site, call, new URL(call.c.req.url).searchParams.getAll('lock')),
  );

  addWorkspaceAction(site, '/locks/release', 'locks:write', async (call) => {
    const { form, bearer, c } = call;
    const workspace = call.workspace.id;
    const ids = textIn(form, 'lock').split(' ');
    const locks = (await selectedLocks(site, call, ids)).filter((row) => releaseWay(bearer, row) !== 'none');
    const force = countForced(call, locks) > 0;
    const reason = parseNote(textIn(form, 'reason'));
    if (!reason.ok) return confirm(site, call, ids, form, reason.reason);
    if (force && reason.value === null) {
      return confirm(site, call, ids, form, 'Enter a reason: the holder of the lock will ask.');
    }
    const releaser = { ...actorOf(c), owner: bearer.owner, force, reason: reason.value ?? '' };
    const requests = locks.map(({ id, path }) => ({ workspace, path, match: (held: string) => held === id, releaser }));
    const releases = await Promise.allSettled(requests.map(site.locks.release));
    const failed = releases.find((each) => each.status === 'rejected');
    const released = releases.filter((each) => each.status === 'fulfilled' && each.value.kind === 'released').length;
    if (released === 0 && failed !== undefined) throw failed.reason;
    if (released === 0) return confirm(site, call, ids);
    return { to: urls.locks(workspace), notice: released === ids.length ? 'released' : 'released-some' };
  });
}

/** The active locks with these ids. Invalid ids are ignored: they may contain characters that a database rejects. */
async function selectedLocks({ storage }: Site, { workspace }: WorkspaceCall, ids: readonly string[]) {
  const valid = ids.filter((id) => /^[!-~]{1,128}$/.test(id)).slice(0, maxIds);
  return valid.length === 0 ? [] : locksWithIds(storage.read, workspace.id, valid);
}

const countForced = ({ bearer }: WorkspaceCall, rows: readonly LockRow[]): number =>
  rows.filter((row) => releaseWay(bearer, row) === 'force').length;

/** Asks for confirmation. If there is a problem, it shows the entered values again. */
async function confirm(
  site: Site,
  call: WorkspaceCall,
  ids: readonly string[],
  values = new URLSearchParams(),
  problem?: string,
): Promise<View> {
  const held = await selectedLocks(site, call, ids);
  const locks = held.filter((row) => releaseWay(call.bearer, row) !== 'none');
  const { id } = call.workspace;
  if (locks.length === 0) {
    const back = buttonLink(urls.locks(id), 'Back to the locks');
    const [status, what, next] = nothingToRelease(ids, held);
    return { title: 'Release locks', main: html`${empty(what, next)}${back}`, status };
  }
  const forced = countForced(call, locks);
  const main = html`<p class="warning">${warningOf(forced, locks)}</p>
    ${htmlTable(locks.map((row) => lockRow(call, row)))}
    ${postForm({
      action: `/workspaces/${id}/locks/release`,
      hidden: { lock: locks.map(({ id }) => id).join(' ') },
      values,
      fields: forced > 0 ? [reasonField] : [],
      errors: { reason: problem },
      button: `${forced > 0 ? 'Force release' : 'Release'} ${pluralize(locks.length, 'lock')}`,
      kind: 'danger',
      more: buttonLink(urls.locks(id), 'Cancel'),
    })}`;
  return { title: 'Release locks', main, status: problem === undefined ? 200 : 422 };
}

function nothingToRelease(ids: readonly string[], held: readonly LockRow[]): readonly [number, string, string] {
  if (held.length > 0) {
    return [
      403,
      'Nothing was released.',
      'Only its holder, or a token with the scope locks:admin, can release a lock.',
    ];
  }
  if (ids.length === 0) return [422, 'No lock is selected.', 'Check the boxes of the locks that you want to release.'];
  return [404, 'Nothing was released.', 'The selected locks were already released, or have expired.'];
}

function warningOf(forced: number, rows: readonly LockRow[]): string {
  const relies = 'A job that is still running relies on its lock';
  const ended = 'Make sure that the run has ended.';
  if (forced > 0) {
    const whose = rows.length === 1 ? 'this lock' : `${forced} of these locks`;
    return `Someone else holds ${whose}. ${relies}, and may overwrite changes that others make now. ${ended}`;
  }
  const own = 'Others can lock the files that you release: push your changes first.';
  return rows.some(({ origin }) => origin !== null) ? `${own} ${relies}. ${ended}` : own;
}

const lockRow = ({ workspace, now }: WorkspaceCall, row: LockRow): Row => [
  ['Path', pathLink(workspace.id, row.path), 'head'],
  ['Holder', holderCell(toLock(row))],
  ...lockCells(toLock(row), now),
];

const reasonField = textInput('reason', 'Reason', {
  hint: 'Recorded in the audit log with your name.',
  attributes: html` required autofocus`,
});
