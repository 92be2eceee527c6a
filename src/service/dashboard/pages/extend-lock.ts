import { html } from 'hono/html';
import { formatDuration } from '../../../interface/duration.ts';
import { parseTtl } from '../../../interface/ttl.ts';
import { lockOf } from '../../locks/lock-row.ts';
import { lfsLockTtl } from '../../workspaces/lfs-lock-ttl.ts';
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
import { releaseWay } from './lock-table.ts';
import { backLink, endedLock, listAt, type ShownLock, shownLocks } from './shown-lock.ts';

const route = { path: '/locks/extend', access: 'locks:write' } as const;
const title = 'Extend a lock';

/** The page that extends the lock that was shown, never a later one on the same path. */
export function addExtendPage(site: Site): void {
  async function show(call: WorkspaceCall, shown: ShownLock, values: Form, problem?: string): Promise<View> {
    const { bearer, workspace, now } = call;
    const { path, id, back } = shown;
    const [row] = await shownLocks(site, workspace.id, [id]);
    if (row === undefined) return endedLock(site, call, shown, { title, nothingDone: 'Nothing was extended.' });
    const facts = lockFacts(lockOf(row), now);
    if (releaseWay(bearer, row) !== 'own') {
      const main = html`<p class="warning">Someone else holds this lock. Only its holder can extend it.</p>
        ${facts}
        <div class="actions">${backLink(back)}</div>`;
      return { title, main, status: 403 };
    }
    const form = postForm({
      action: `/workspaces/${workspace.id}/locks/extend`,
      hidden: { path, lock: id, back },
      values,
      fields: [durationField('For how long, from now')],
      errors: { duration: problem },
      button: 'Extend',
      cancel: backLink(back, 'Cancel'),
    });
    return { title, main: html`${facts}${form}`, status: problem === undefined ? 200 : 422 };
  }

  addWorkspacePage(site, route, async (call) => {
    const { path, lock } = queryOf(call, 'path', 'lock');
    const back = listAt(call.c.req.header('referer') ?? '', call.workspace.id);
    return show(call, { path, id: lock, back }, filledIn({ duration: formatDuration(lfsLockTtl(call.workspace)) }));
  });

  addWorkspaceAction(site, route, async (call) => {
    const { form, bearer } = call;
    const workspace = call.workspace.id;
    const id = form.text('lock');
    const back = listAt(form.text('back'), workspace);
    const shown = { path: form.text('path'), id, back };
    const ttl = parseTtl(form.text('duration').trim());
    if (!ttl.ok) return show(call, shown, form, ttl.reason);
    const [row] = await shownLocks(site, workspace, [id]);
    const match = (held: string) => held === id;
    const extension = row && (await site.locks.extend({ workspace, path: row.path, ttl: ttl.value, bearer, match }));
    if (extension?.kind === 'renewed') return { to: back, notice: 'extended' };
    const problem = 'The lock already lasts longer. Choose more, or leave it as it is.';
    return show(call, shown, form, extension?.kind === 'not-longer' ? problem : undefined);
  });
}
