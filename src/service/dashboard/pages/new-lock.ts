import { html } from 'hono/html';
import { formatDuration } from '../../../interface/duration.ts';
import { parseNote } from '../../../interface/lock-note.ts';
import { canonicalLockPath, type LockPath } from '../../../interface/lock-path.ts';
import { problems } from '../../../interface/problem.ts';
import type { Lock } from '../../../interface/resources.ts';
import { safeText } from '../../../interface/safe-text.ts';
import { parseTtl } from '../../../interface/ttl.ts';
import { requireFreeDisk } from '../../access/access.ts';
import { acquiredLock } from '../../api/lock-responses.ts';
import { Refusal } from '../../contract/problem.ts';
import { latestMode, lfsLockTtl, uncompared } from '../../workspaces/settings.ts';
import { buttonLink, choices, group, postForm, textInput } from '../elements/fields.ts';
import { durationField, listUrl, lockFacts, noteField, pathUrl } from '../elements/lock.ts';
import { literal, type Markup } from '../elements/text.ts';
import { allValues, type FieldErrors, type Form, filledIn } from '../frame/form.ts';
import {
  addWorkspaceAction,
  addWorkspacePage,
  queryOf,
  type Site,
  type View,
  type WorkspaceCall,
} from '../frame/page.ts';

/** Why the form is shown again. */
interface Rejection {
  readonly errors?: FieldErrors<'path' | 'duration' | 'note'>;
  /** The path is valid, but probably not meant as written. */
  readonly isDoubtful?: true;
  readonly refusal?: Markup;
  readonly status?: number;
}

const access = 'locks:write';

const unknownVersion = {
  reason:
    'This page cannot know which version of the file you have. Lock it from your clone: workspace-service lock take',
  isLasting: true,
};

export function addNewLockPages(site: Site): void {
  const { locks } = site;

  addWorkspacePage(site, { path: '/locks/new', access }, async (call) => lockView(call, emptyForm(call)));

  addWorkspaceAction(site, { path: '/locks', access }, async (call) => {
    const workspace = call.workspace.id;
    const read = readNewLock(call.form);
    if (!read.ok) return lockView(call, call.form, { errors: read.errors, status: 422 });
    const { path, duration: ttl, note } = read.value;
    const doubt = call.form.text('literal') === 'yes' ? undefined : await doubtAbout(site, call, path);
    if (doubt !== undefined)
      return lockView(call, call.form, { errors: { path: doubt }, isDoubtful: true, status: 422 });
    try {
      requireFreeDisk(site);
      const acquisition = await locks.acquire(undefined, {
        workspace,
        path,
        type: 'exclusive',
        ttl,
        note,
        compare: async () => uncompared(latestMode(call.workspace), unknownVersion),
        bearer: call.bearer,
        // The Referer would be a page of this dashboard, not a run.
        origin: null,
      });
      acquiredLock({ path }, acquisition);
      return { to: pathUrl(workspace, path), notice: 'taken' };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return lockView(call, call.form, rejectionOf(call, path, error));
    }
  });
}

const readNewLock = (form: Form) =>
  allValues({
    path: canonicalLockPath(form.text('path').trim()),
    duration: parseTtl(form.text('duration').trim()),
    note: parseNote(form.text('note')),
  });

/** Why the path is probably not meant as written, as `lock take` says it. */
async function doubtAbout(
  { findInMirror }: Site,
  { workspace }: WorkspaceCall,
  path: LockPath,
): Promise<string | undefined> {
  const found = await findInMirror(workspace, path);
  if (found === 'file') return undefined;
  if (found === 'folder') return 'This is a folder. A lock on it covers none of its files: name the file.';
  if (/[*?[]/.test(path)) return 'Patterns are not expanded. A lock on a pattern covers no files: name the file.';
  return found && 'This file is in no synced branch. Case counts.';
}

/** The form to lock a file. */
function lockView({ workspace }: WorkspaceCall, values: Form, rejection: Rejection = {}): View {
  const { errors = {}, isDoubtful = false, refusal = '', status = 200 } = rejection;
  const form = postForm({
    action: `/workspaces/${workspace.id}/locks`,
    values,
    fields: [
      textInput('path', 'Path', {
        hint: html`As in the repository, such as ${literal('Content/Hero.uasset')}. Case-sensitive.`,
        attributes: html` required autofocus`,
      }),
      ...(isDoubtful || values.text('literal') !== '' ? [literalField] : []),
      durationField('For how long'),
      noteField('For those who find the file locked.'),
    ],
    errors,
    nothingDone: 'Nothing was locked.',
    button: 'Lock',
    cancel: buttonLink(listUrl(workspace.id), 'Cancel'),
  });
  return { title: 'Lock a file', main: html`${refusal}${form}`, status };
}

/** Why a file was not locked, with the conflicting lock. */
function rejectionOf(call: WorkspaceCall, path: LockPath, { problem, message, extras }: Refusal): Rejection {
  const { status } = problems[problem];
  if (extras.lock !== undefined) return { status, refusal: heldLock(call, path, extras.lock) };
  const ofPath = extras.errors?.find(({ pointer }) => pointer === '#/path');
  if (ofPath !== undefined) return { status, errors: { path: ofPath.detail } };
  return {
    status,
    refusal: html`<p class="warning" role="alert"><strong>Nothing was locked.</strong> ${safeText(message)}</p>`,
  };
}

function heldLock({ bearer, now, workspace: { id } }: WorkspaceCall, asked: LockPath, lock: Lock): Markup {
  const own = lock.owner === bearer.owner;
  const sameFile = asked === lock.path ? '' : html` On Windows, ${literal(asked)} is the same file.`;
  return html`<p class="warning" role="alert"><strong>Nothing was locked.</strong> ${
    own
      ? html`You hold this lock already. <a href="${pathUrl(id, lock.path)}">Extend it</a>`
      : html`Someone else holds this lock. <a href="${pathUrl(id, lock.path)}">Ask for it</a>`
  }${sameFile}</p>
  ${lockFacts(lock, now)}`;
}

const emptyForm = (call: WorkspaceCall): Form =>
  filledIn({ path: queryOf(call, 'path').path, duration: formatDuration(lfsLockTtl(call.workspace)) });

const literalField = group('literal', 'New file', (values) =>
  choices(values, {
    type: 'checkbox',
    name: 'literal',
    options: [['yes', 'Lock it anyway', 'For a file that does not exist yet: the path is locked as written.']],
  }),
);
