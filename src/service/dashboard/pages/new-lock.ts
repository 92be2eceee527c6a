import { html } from 'hono/html';
import { formatDuration, parseTtl } from '../../../interface/duration.ts';
import { canonicalLockPath, parseNote } from '../../../interface/lock-path.ts';
import { problems } from '../../../interface/problem.ts';
import { safeText } from '../../../interface/safe-text.ts';
import { requireFreeDisk } from '../../access/access.ts';
import { acquiredLock } from '../../api/lock-responses.ts';
import { Refusal } from '../../contract/response.ts';
import { latestMode, lfsLockTtl, uncompared } from '../../workspaces/settings.ts';
import { buttonLink, type FieldErrors, postForm, textInput } from '../elements/fields.ts';
import { durationField, noteField, urls } from '../elements/lock.ts';
import { literal, type Markup } from '../elements/markup.ts';
import { allValues, textIn } from '../frame/form.ts';
import type { View } from '../frame/layout.ts';
import { addWorkspaceAction, addWorkspacePage, queryOf, type Site, type WorkspaceCall } from '../frame/page.ts';

interface Rejection {
  readonly errors?: FieldErrors;
  readonly refusal?: Markup;
  readonly status?: number;
}

const unknownVersion = {
  reason:
    'This page cannot know which version of the file you have. Lock it from your clone: workspace-service lock take',
  isLasting: true,
};

export function addNewLockPages(site: Site): void {
  const { locks } = site;

  addWorkspacePage(site, '/locks/new', 'locks:write', async (call) => {
    const duration = formatDuration(lfsLockTtl(call.workspace));
    return lockView(call, new URLSearchParams({ path: queryOf(call, 'path').path, duration }));
  });

  addWorkspaceAction(site, '/locks', 'locks:write', async (call) => {
    const { form, bearer } = call;
    const workspace = call.workspace.id;
    const read = allValues({
      path: canonicalLockPath(textIn(form, 'path')),
      duration: parseTtl(textIn(form, 'duration')),
      note: parseNote(textIn(form, 'note')),
    });
    if (!read.ok) return lockView(call, form, { errors: read.errors });
    const { path, duration: ttl, note } = read.value;
    try {
      await requireFreeDisk(site);
      const acquisition = await locks.acquire(undefined, {
        workspace,
        path,
        type: 'exclusive',
        ttl,
        note,
        compare: async () => uncompared(latestMode.of(call.workspace.latest), unknownVersion),
        bearer,
        // The Referer is a page of this dashboard, not a run.
        origin: null,
      });
      acquiredLock(acquisition, undefined);
      return { to: urls.path(workspace, path), notice: 'taken' };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { problem, message, extras } = error;
      if (extras.lock !== undefined) return { to: urls.path(workspace, extras.lock.path), notice: 'held' };
      const ofPath = extras.errors?.find(({ pointer }) => pointer === '#/path');
      if (ofPath !== undefined) return lockView(call, form, { errors: { path: ofPath.detail } });
      const refusal = html`<p class="warning" role="alert">Nothing was locked. ${safeText(message)}</p>`;
      return lockView(call, form, { refusal, status: problems[problem].status });
    }
  });
}

function lockView(
  { workspace }: WorkspaceCall,
  values: URLSearchParams,
  { errors = {}, refusal = html``, status = 422 }: Rejection = { status: 200 },
): View {
  const form = postForm({
    action: `/workspaces/${workspace.id}/locks`,
    values,
    fields: [
      textInput('path', 'Path', {
        hint: html`As in the repository, such as ${literal('Content/Hero.uasset')}. Case-sensitive.`,
        attributes: html` required autofocus`,
      }),
      durationField('For how long'),
      noteField('For anyone who finds the file locked.'),
    ],
    errors,
    button: 'Lock',
    more: buttonLink(urls.locks(workspace.id), 'Cancel'),
  });
  return { title: 'Lock a file', main: html`${refusal}${form}`, status };
}
