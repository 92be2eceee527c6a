import { html } from 'hono/html';
import { parseHeldPath } from '../../../interface/lock-path.ts';
import { grants } from '../../../interface/scopes.ts';
import { actorOf } from '../../http/context.ts';
import { locksWithIds } from '../../locks/list.ts';
import { postForm } from '../elements/fields.ts';
import { htmlTable, type Row } from '../elements/list.ts';
import { originLink, pathLink } from '../elements/lock.ts';
import type { ShownLock } from '../elements/lock-list.ts';
import { type Markup, plural, time, userText } from '../elements/text.ts';
import type { Form } from '../frame/form.ts';
import { addWorkspaceAction, type PageResult, type Site, type View, type WorkspaceActionCall } from '../frame/page.ts';
import { reasonField, reasonProblem } from './change-lock.ts';
import { lockPageSize, shownLock } from './lock-table.ts';
import { backLink, type EnteredText, listAt, nothingToDo } from './one-lock.ts';

/** Without JavaScript, a page of the list sends a field for each of its locks. */
const maxFields = lockPageSize + 50;

const route = { path: '/locks/release-selected', access: 'locks:write', maxFields } as const;

/** Limited by the maximum size of a form. */
const maxSelected = 1_000;

/** Asks once for confirmation, and releases only the locks that were shown, never later ones on the same paths. */
export function addSelectedReleasePage(site: Site): void {
  const {
    storage,
    locks: { commitReleases },
  } = site;

  async function release(
    call: WorkspaceActionCall,
    back: string,
    locks: readonly ShownLock[],
    reason: string,
  ): Promise<PageResult> {
    const { id } = call.workspace;
    const force = grants(call.bearer.scopes, 'locks:admin') && reasonProblem(reason) === undefined;
    const releaser = { ...actorOf(call.c), owner: call.bearer.owner, force, reason };
    const requests = locks.flatMap((lock) => {
      const path = parseHeldPath(lock.path);
      return path.ok ? [{ workspace: id, path: path.value, match: (held: string) => held === lock.id, releaser }] : [];
    });
    const releases = await commitReleases(id, (_, release) => release(requests));
    const released = releases.filter(({ kind }) => kind === 'released');
    const asked = selectedIn(call.form).length;
    return { to: back, notice: released.length === asked ? 'released-all' : 'released-some' };
  }

  addWorkspaceAction(site, route, async (call) => {
    const { form, c, bearer, workspace } = call;
    const isConfirmed = form.text('confirmed') !== '';
    const address = isConfirmed ? form.text('back') : (c.req.header('referer') ?? '');
    const back = listAt(address, workspace.id);
    const show = (main: Markup, status = 200): View => ({ title: 'Release locks', main, status });

    const ids = selectedIn(form);
    if (ids.length === 0) {
      return show(nothingToDo(back, 'No lock is selected.', 'Check the boxes of those that you want to release.'), 422);
    }
    if (ids.length > maxSelected) {
      const reason = `${plural(ids.length, 'lock')} are selected, and at most ${plural(maxSelected, 'lock')} are released at once.`;
      return show(nothingToDo(back, reason, 'Nothing was released. Select fewer.'), 422);
    }
    const held = (await locksWithIds(storage, workspace.id, ids)).map((each) => shownLock(bearer, each));
    const locks = held.filter((lock) => lock.release !== 'none');
    if (locks.length === 0) {
      return show(nothingToDo(back, 'These locks no longer exist.', 'They were released, or have expired.'), 404);
    }
    const reason = form.text('reason').trim();
    const problem = locks.some((lock) => lock.release === 'force') ? reasonProblem(reason) : undefined;
    if (!isConfirmed) return show(confirmation(call, back, locks, { text: '' }));
    if (problem !== undefined) return show(confirmation(call, back, locks, { text: reason, problem }), 422);
    return release(call, back, locks, reason);
  });
}

/** Ids from the checked boxes, or from the hidden list of the confirmation page. */
const selectedIn = (form: Form): readonly string[] => [
  ...new Set([...form.all('lock'), ...form.text('locks').split(' ')].filter((id) => /^[!-~]{1,128}$/.test(id))),
];

function confirmation(
  call: WorkspaceActionCall,
  back: string,
  locks: readonly ShownLock[],
  reason: EnteredText,
): Markup {
  const workspace = call.workspace.id;
  const forced = locks.filter(({ release }) => release === 'force').length;
  return html`<p class="warning">${warningOf(forced)}</p>
    ${htmlTable(
      '',
      locks.map((lock) => row(workspace, call.now, lock)),
    )}
    ${postForm({
      action: `/workspaces/${workspace}/locks/release-selected`,
      hidden: { locks: locks.map(({ id }) => id).join(' '), back, confirmed: 'yes' },
      fields: forced > 0 ? [reasonField(reason.text)] : [],
      errors: { reason: reason.problem },
      button: `${forced > 0 ? 'Force release' : 'Release'} ${plural(locks.length, 'lock')}`,
      kind: 'danger',
      autofocus: forced === 0,
      cancel: backLink(back, 'Cancel'),
    })}`;
}

function warningOf(forced: number): string {
  const ended = 'Make sure that the runs have ended.';
  return forced === 0
    ? `These locks are yours. Others can lock the files then: push your changes first. A job that is still running relies on its lock. ${ended}`
    : `Someone else holds ${forced} of these locks. A job that is still running relies on its lock, and may overwrite changes that others make now. ${ended}`;
}

function row(workspace: string, now: number, { path, owner, origin, acquired_at, release }: ShownLock): Row {
  return [
    ['Path', pathLink(workspace, path), 'head'],
    ['Holder', release === 'own' ? 'you' : userText(owner)],
    ['From run', originLink(origin, 'short')],
    ['Since', time(acquired_at, now)],
  ];
}
