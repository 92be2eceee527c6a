import { html } from 'hono/html';
import { formatDuration } from '../../../interface/duration.ts';
import { parseTtl } from '../../../interface/ttl.ts';
import { toLock } from '../../locks/lock-row.ts';
import { lfsLockTtl } from '../../workspaces/settings.ts';
import { postForm } from '../elements/fields.ts';
import { durationField, lockFacts } from '../elements/lock.ts';
import { type Form, filledIn } from '../frame/form.ts';
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
  previousList,
  refusedView,
  safeListUrl,
  selectedLocks,
} from './lock-selection.ts';
import { releaseWay } from './lock-table.ts';

const route = { path: '/locks/extend', access: 'locks:write' } as const;
const title = 'Extend a lock';

/** The page that extends the lock that was shown, never a later one on the same path. */
export function addExtendPage(site: Site): void {
  async function show(call: WorkspaceCall, selection: LockSelection, values: Form, problem?: string): Promise<View> {
    const { bearer, workspace, now } = call;
    const { ids, back } = selection;
    const [row] = await selectedLocks(site, workspace.id, ids);
    if (row === undefined) return endedLocks(site, call, selection, { title, nothingDone: 'Nothing was extended.' });
    const details = lockFacts(toLock(row), now);
    if (releaseWay(bearer, row) !== 'own') {
      const warning = html`Someone else holds this lock. Only its holder can extend it.`;
      return refusedView({ title, warning, details, back, status: 403 });
    }
    const form = postForm({
      action: `/workspaces/${workspace.id}/locks/extend`,
      hidden: { path: row.path, lock: row.id, back },
      values,
      fields: [durationField('For how long, from now')],
      errors: { duration: problem },
      button: 'Extend',
      cancel: backLink(back, 'Cancel'),
    });
    return { title, main: html`${details}${form}`, status: problem === undefined ? 200 : 422 };
  }

  addWorkspacePage(site, route, async (call) => {
    const { path, lock } = queryOf(call, 'path', 'lock');
    const values = filledIn({ duration: formatDuration(lfsLockTtl(call.workspace)) });
    return show(call, { ids: [lock], path, back: previousList(call) }, values);
  });

  addWorkspaceAction(site, route, async (call) => {
    const { form, bearer } = call;
    const workspace = call.workspace.id;
    const id = form.text('lock');
    const back = safeListUrl(form.text('back'), workspace);
    const selection = { ids: [id], path: form.text('path'), back };
    const ttl = parseTtl(form.text('duration').trim());
    if (!ttl.ok) return show(call, selection, form, ttl.reason);
    const [row] = await selectedLocks(site, workspace, selection.ids);
    const match = (held: string) => held === id;
    const extension = row && (await site.locks.extend({ workspace, path: row.path, ttl: ttl.value, bearer, match }));
    if (extension?.kind === 'renewed') return { to: back, notice: 'extended' };
    const problem = 'The lock already lasts longer. Choose more, or leave it as it is.';
    return show(call, selection, form, extension?.kind === 'not-longer' ? problem : undefined);
  });
}
