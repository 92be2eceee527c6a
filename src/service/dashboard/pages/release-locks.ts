import { html } from 'hono/html';
import { pluralize } from '../../../interface/format.ts';
import { parseNote } from '../../../interface/lock-path.ts';
import { actorOf } from '../../access/caller.ts';
import { invalid, Refusal } from '../../contract/response.ts';
import { type LockRow, locksWithIds, toLock } from '../../locks/find.ts';
import { buttonLink, postForm, textInput } from '../elements/fields.ts';
import { holderCell, lockCells, pathLink, releaseWay, urls } from '../elements/lock.ts';
import { htmlTable, type Row } from '../elements/markup.ts';
import { readFields, textIn } from '../frame/form.ts';
import { addWorkspaceAction, addWorkspacePage, type PageResult, type Site, type WorkspaceCall } from '../frame/page.ts';

/** More than one page of locks. */
const maxIds = 200;

/** Releases exactly the locks that were shown, never later ones on the same paths. */
export function addReleasePages(site: Site): void {
  const page = (call: WorkspaceCall) => confirm(site, call);
  addWorkspacePage(site, '/locks/release', 'locks:write', page);

  addWorkspaceAction(site, '/locks/release', 'locks:write', page, async (call) => {
    const { form, bearer, c } = call;
    const workspace = call.workspace.id;
    const ids = idsIn(form);
    const locks = await releasableLocks(site, call, ids);
    const force = countForced(call, locks) > 0;
    const { reason } = readFields(form, { reason: parseNote });
    if (force && reason === null) {
      throw invalid({ pointer: '#/reason', detail: 'Enter a reason: the holder of the lock will ask.' });
    }
    const release = { workspace, bearer, actor: actorOf(c), force, reason };
    const requests = locks.map(({ id, path }) => ({ ...release, path, match: (held: string) => held === id }));
    const releases = await Promise.allSettled(requests.map((request) => site.locks.release(request)));
    const failed = releases.find((each) => each.status === 'rejected');
    const released = releases.filter((each) => each.status === 'fulfilled' && each.value.kind === 'released').length;
    if (released === 0 && failed !== undefined) throw failed.reason;
    const some = released === 0 ? 'ended' : 'released-some';
    return { to: urls.locks(workspace), notice: released === ids.length ? 'released' : some };
  });
}

const idsIn = (form: URLSearchParams): readonly string[] => textIn(form, 'lock').split(' ');

/** The active locks with these ids that the token may release. */
async function releasableLocks({ storage }: Site, { workspace, bearer }: WorkspaceCall, ids: readonly string[]) {
  // Ids that are invalid may contain characters that a database rejects.
  const valid = ids.filter((id) => /^[!-~]{1,128}$/.test(id)).slice(0, maxIds);
  const held = valid.length === 0 ? [] : await locksWithIds(storage.read, workspace.id, valid);
  const locks = held.filter((row) => releaseWay(bearer, row) !== 'none');
  if (locks.length > 0 || held.length === 0) return locks;
  const reason = 'Only its holder, or a token with the scope locks:admin, can release a lock.';
  throw new Refusal('lock-of-another-owner', `Nothing was released. ${reason}`);
}

const countForced = ({ bearer }: WorkspaceCall, rows: readonly LockRow[]): number =>
  rows.filter((row) => releaseWay(bearer, row) === 'force').length;

/** Asks for confirmation. */
async function confirm(site: Site, call: WorkspaceCall): Promise<PageResult> {
  const { c, form, refusal } = call;
  const { id } = call.workspace;
  const to = urls.locks(id);
  const ids = refusal ? idsIn(form) : new URL(c.req.url).searchParams.getAll('lock');
  if (ids.length === 0) return { to, notice: 'unselected' };
  const locks = await releasableLocks(site, call, ids);
  if (locks.length === 0) return { to, notice: 'ended' };
  const forced = countForced(call, locks);
  const main = html`<p class="warning">${warningOf(forced, locks)}</p>
    ${htmlTable(locks.map((row) => lockRow(call, row)))}
    ${postForm({
      action: `/workspaces/${id}/locks/release`,
      hidden: { lock: locks.map(({ id }) => id).join(' ') },
      sent: call,
      fields: forced > 0 ? [reasonField] : [],
      button: `${forced > 0 ? 'Force release' : 'Release'} ${pluralize(locks.length, 'lock')}`,
      kind: 'danger',
      more: buttonLink(to, 'Cancel'),
    })}`;
  return { title: 'Release locks', main };
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
