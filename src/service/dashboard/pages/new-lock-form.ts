import { html } from 'hono/html';
import { maxNoteLength, parseNote } from '../../../interface/lock-note.ts';
import { canonicalLockPath, type LockPath } from '../../../interface/lock-path.ts';
import type { Lock } from '../../../interface/resources.ts';
import { parseTtl } from '../../../interface/ttl.ts';
import { field, problemSummary } from '../elements/fields.ts';
import { durationField, lockFacts } from '../elements/lock.ts';
import { extendAddress, listAddress } from '../elements/lock-list.ts';
import { literal, type Markup } from '../elements/text.ts';
import { type Form, newFormId } from '../frame/form.ts';
import { allValues, type EnteredTexts, enteredTexts, type FieldErrors } from '../frame/form-values.ts';
import { inWorkspace, type View } from '../frame/layout.ts';
import type { PageCall } from '../frame/page.ts';

const titles = { path: 'Path', duration: 'For how long', note: 'Note' } as const;

type Field = keyof typeof titles;

export type LockErrors = FieldErrors<Field>;

export type EnteredLock = EnteredTexts<Field>;

export interface NewLockForm {
  readonly workspace: string;
  readonly entered: EnteredLock;
  readonly errors: LockErrors;
  /** The error, if it does not belong to a field. */
  readonly refusal: Markup | string;
  /** Whether there are paths to suggest. */
  readonly isMirrored: boolean;
}

export function newLockForm(call: PageCall, { workspace, entered, errors, refusal, isMirrored }: NewLockForm): View {
  const completion = isMirrored ? html` list="paths" data-suggestions="/workspaces/${workspace}/locks/paths"` : '';
  const main = html`${refusal}
    ${problemSummary('Nothing was locked.', titles, errors)}
    <form method="post" action="/workspaces/${workspace}/locks" class="narrow">
      <input type="hidden" name="form_id" value="${newFormId(call)}">
      ${field({
        id: 'path',
        title: titles.path,
        problem: errors.path,
        hint: html`As in the repository, such as ${literal('Content/Hero.uasset')}. Case-sensitive. The file does not have to exist yet.`,
        control: (aria) =>
          html`<input id="path" name="path" value="${entered.path}" required autofocus autocomplete="off" autocapitalize="none" spellcheck="false"${completion}${aria}>`,
      })}
      ${isMirrored ? html`<datalist id="paths"></datalist>` : ''}
      ${durationField(titles.duration, { text: entered.duration, problem: errors.duration })}
      ${field({
        id: 'note',
        title: titles.note,
        problem: errors.note,
        hint: `For those who find the file locked. One line of up to ${maxNoteLength} characters; may be empty.`,
        control: (aria) => html`<input id="note" name="note" value="${entered.note}" autocomplete="off"${aria}>`,
      })}
      <div class="actions"><button class="primary">Lock</button> <a class="button" href="${listAddress(workspace)}" data-escape aria-keyshortcuts="Escape">Cancel</a></div>
    </form>`;
  const script = isMirrored ? { script: 'new-lock.js' } : {};
  return { title: 'Lock a file', location: inWorkspace(workspace, 'locks'), main, ...script };
}

export const enteredLock = (form: Form): EnteredLock => enteredTexts(form, ['path', 'duration', 'note']);

export const readNewLock = ({ path, duration, note }: EnteredLock) =>
  allValues({
    path: canonicalLockPath(path.trim()),
    duration: parseTtl(duration.trim()),
    note: parseNote(note),
  });

/** Holder of the path. */
export function heldLock({ bearer, now }: PageCall, workspace: string, asked: LockPath, lock: Lock): Markup {
  const own = lock.owner === bearer.owner;
  const sameFile = asked === lock.path ? '' : html` On Windows, ${literal(asked)} is the same file.`;
  return html`<p class="warning" role="alert"><strong>Nothing was locked.</strong> ${
    own
      ? html`You hold this lock already. <a href="${extendAddress(workspace, lock)}">Extend it</a>`
      : html`Somebody else holds this lock. <a href="${listAddress(workspace, { path: lock.path })}">Watch it</a> to see when it is free.`
  }${sameFile}</p>
  ${lockFacts(lock, now)}`;
}
