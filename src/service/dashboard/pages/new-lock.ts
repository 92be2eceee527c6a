import { html } from 'hono/html';
import { formatDuration, parseTtl } from '../../../interface/duration.ts';
import { canonicalLockPath, parseNote } from '../../../interface/lock-path.ts';
import { requireFreeDisk } from '../../access/access.ts';
import { Refusal } from '../../contract/response.ts';
import { latestMode, lfsLockTtl, uncompared } from '../../workspaces/settings.ts';
import { buttonLink, postForm, textInput } from '../elements/fields.ts';
import { durationField, noteField, urls } from '../elements/lock.ts';
import { literal } from '../elements/markup.ts';
import { readFields } from '../frame/form.ts';
import type { View } from '../frame/layout.ts';
import { addWorkspaceAction, addWorkspacePage, queryOf, type Site, type WorkspaceCall } from '../frame/page.ts';

const unknownVersion = {
  reason:
    'This page cannot know which version of the file you have. Lock it from your clone: workspace-service lock take',
  isLasting: true,
};

export function addNewLockPages(site: Site): void {
  const { locks } = site;

  addWorkspacePage(site, '/locks/new', 'locks:write', lockView);

  addWorkspaceAction(site, '/locks', 'locks:write', lockView, async ({ workspace, bearer, form }) => {
    const fields = { path: canonicalLockPath, duration: parseTtl, note: parseNote };
    const { path, duration, note } = readFields(form, fields);
    await requireFreeDisk(site);
    const to = urls.path(workspace.id, path);
    try {
      await locks.acquire(undefined, {
        workspace: workspace.id,
        path,
        ttl: duration,
        note,
        compare: async () => uncompared(latestMode.of(workspace.latest), unknownVersion),
        bearer,
        // The Referer is a page of this dashboard, not a run.
        origin: null,
      });
      return { to, notice: 'taken' };
    } catch (error) {
      if (error instanceof Refusal && error.extras.lock !== undefined) return { to, notice: 'held' };
      throw error;
    }
  });
}

async function lockView(call: WorkspaceCall): Promise<View> {
  const { workspace } = call;
  const duration = formatDuration(lfsLockTtl(workspace));
  const main = postForm({
    action: `/workspaces/${workspace.id}/locks`,
    defaults: new URLSearchParams({ path: queryOf(call, 'path').path, duration }),
    sent: call,
    fields: [
      textInput('path', 'Path', {
        hint: html`As in the repository, such as ${literal('Content/Hero.uasset')}. Case-sensitive.`,
        attributes: html` required autofocus`,
      }),
      durationField('For how long'),
      noteField('For anyone who finds the file locked.'),
    ],
    button: 'Lock',
    more: buttonLink(urls.locks(workspace.id), 'Cancel'),
  });
  return { title: 'Lock a file', main };
}
