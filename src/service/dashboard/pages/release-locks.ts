import { html } from 'hono/html';
import { pluralize } from '../../../interface/format.ts';
import { actorOf } from '../../access/caller.ts';
import { type LockRow, toLock } from '../../locks/lock-row.ts';
import { asTimestamp } from '../../storage/timestamp.ts';
import { postForm, textInput } from '../elements/fields.ts';
import { htmlTable, type Row } from '../elements/list.ts';
import { lockFacts, originLink, pathLink } from '../elements/lock.ts';
import { type Markup, time, userText } from '../elements/text.ts';
import type { Form } from '../frame/form.ts';
import {
  addWorkspaceAction,
  addWorkspacePage,
  queryOf,
  type Site,
  type View,
  type WorkspaceCall,
} from '../frame/page.ts';
import {
  backLink,
  endedLocks,
  type LockSelection,
  nothingToDo,
  previousList,
  refusedView,
  safeListUrl,
  selectedLocks,
} from './lock-selection.ts';
import { lockPageSize, releaseTexts, releaseWay } from './lock-table.ts';

const route = { path: '/locks/release', access: 'locks:write' } as const;

/** Without JavaScript, a page of the list sends a field for each of its locks. */
const selectedRoute = {
  ...route,
  path: '/locks/release-selected',
  maxFields: lockPageSize + 50,
} as const;

/** The pages that release the locks that were shown, one or several, never later ones on the same paths. */
export function addReleasePages(site: Site): void {
  /** The locks that can still be released, or why there are none. */
  async function releasableLocks(call: WorkspaceCall, selection: LockSelection): Promise<readonly LockRow[] | View> {
    const held = await selectedLocks(site, call.workspace.id, selection.ids);
    const title = titleFor(selection);
    if (held.length === 0) return endedLocks(site, call, selection, { title, nothingDone: 'Nothing was released.' });
    const locks = held.filter((row) => releaseWay(call.bearer, row) !== 'none');
    if (locks.length > 0) return locks;
    const warning = html`Someone else holds ${held.length > 1 ? 'these locks' : 'this lock'}. Only the holder, or a token
      with the scope <code>locks:admin</code>, can release a lock.`;
    return refusedView({ title, warning, details: lockDetails(call, held), back: selection.back, status: 403 });
  }

  async function confirm(call: WorkspaceCall, selection: LockSelection): Promise<View> {
    const locks = await releasableLocks(call, selection);
    return 'main' in locks ? locks : confirmation(call, selection, locks);
  }

  addWorkspacePage(site, route, async (call) => {
    const { path, lock } = queryOf(call, 'path', 'lock');
    return confirm(call, { ids: [lock], path, back: previousList(call) });
  });

  addWorkspaceAction(site, selectedRoute, async (call) => {
    const back = previousList(call);
    const ids = idsIn(call.form);
    if (ids.length > 0) return confirm(call, { ids, path: '', back });
    const main = nothingToDo(back, 'No lock is selected.', 'Check the boxes of those that you want to release.');
    return { title: 'Release locks', main, status: 422 };
  });

  addWorkspaceAction(site, route, async (call) => {
    const { form, bearer, c } = call;
    const workspace = call.workspace.id;
    const ids = idsIn(form);
    const back = safeListUrl(form.text('back'), workspace);
    const selection = { ids, path: form.text('path'), back };
    const reason = form.text('reason').trim();
    const locks = await releasableLocks(call, selection);
    if ('main' in locks) return locks;
    const force = countForced(call, locks) > 0;
    const problem = force ? reasonProblem(reason) : undefined;
    if (problem !== undefined) return confirmation(call, selection, locks, { form, problem });
    const releaser = { ...actorOf(c), owner: bearer.owner, force, reason };
    const requests = locks.map(({ id, path }) => ({ workspace, path, match: (held: string) => held === id, releaser }));
    const releases = await site.locks.commitReleases(workspace, (_, release) => release(requests));
    const released = releases.filter(({ kind }) => kind === 'released').length;
    if (released === 0) return confirm(call, selection);
    const all = ids.length === 1 ? 'released' : 'released-all';
    return { to: back, notice: released === ids.length ? all : 'released-some' };
  });
}

/** Ids from the checked boxes, or from the hidden field of the confirmation. */
const idsIn = (form: Form): readonly string[] => [
  ...new Set(form.all('lock').flatMap((ids) => ids.split(' ').filter((id) => id !== ''))),
];

function confirmation(
  call: WorkspaceCall,
  selection: LockSelection,
  rows: readonly LockRow[],
  rejected?: { readonly form: Form; readonly problem: string },
): View {
  const forced = countForced(call, rows);
  const { ids, path, back } = selection;
  const main = html`<p class="warning">${warningOf(forced, rows)}</p>
    ${lockDetails(call, rows)}
    ${postForm({
      action: `/workspaces/${call.workspace.id}/locks/release`,
      hidden: { lock: rows.map(({ id }) => id).join(' '), path, back },
      ...(rejected && { values: rejected.form }),
      fields: forced > 0 ? [reasonField] : [],
      errors: { reason: rejected?.problem },
      button: `${releaseTexts[forced > 0 ? 'force' : 'own']}${ids.length > 1 ? ` ${pluralize(rows.length, 'lock')}` : ''}`,
      kind: 'danger',
      autofocus: forced === 0,
      cancel: backLink(back, 'Cancel'),
    })}`;
  return { title: titleFor(selection), main, status: rejected === undefined ? 200 : 422 };
}

const titleFor = ({ ids }: LockSelection): string => (ids.length > 1 ? 'Release locks' : 'Release a lock');

const countForced = ({ bearer }: WorkspaceCall, rows: readonly LockRow[]): number =>
  rows.filter((row) => releaseWay(bearer, row) === 'force').length;

function warningOf(forced: number, rows: readonly LockRow[]): string {
  const relies = 'A job that is still running relies on its lock';
  const ended = 'Make sure that the run has ended.';
  const isOne = rows.length === 1;
  if (forced > 0) {
    const whose = isOne ? 'this lock' : `${forced} of these locks`;
    return `Someone else holds ${whose}. ${relies}, and may overwrite changes that others make now. ${ended}`;
  }
  const own = isOne
    ? 'This lock is yours. Once it is released, others can lock the file: push your changes first.'
    : 'These locks are yours. Once they are released, others can lock the files: push your changes first.';
  return rows.some(({ origin }) => origin !== null) ? `${own} ${relies}. ${ended}` : own;
}

/** All details of a single lock, and the most important ones of several. */
function lockDetails({ workspace, bearer, now }: WorkspaceCall, rows: readonly LockRow[]): Markup {
  const [only] = rows;
  if (only !== undefined && rows.length === 1) return lockFacts(toLock(only), now);
  return htmlTable(
    rows.map(
      (row): Row => [
        ['Path', pathLink(workspace.id, row.path), 'head'],
        ['Holder', releaseWay(bearer, row) === 'own' ? 'you' : userText(row.owner)],
        ['From run', originLink(row.origin, 'short')],
        ['Since', time(asTimestamp(row.acquired_at), now)],
      ],
    ),
  );
}

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
