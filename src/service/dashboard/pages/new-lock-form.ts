import { html } from 'hono/html';
import { maxNoteLength, parseNote } from '../../../interface/lock-note.ts';
import { canonicalLockPath, type LockPath } from '../../../interface/lock-path.ts';
import type { Lock } from '../../../interface/resources.ts';
import { parseTtl, type Ttl } from '../../../interface/ttl.ts';
import { field, problemSummary } from '../elements/fields.ts';
import { durationField, lockFacts } from '../elements/lock.ts';
import { extendAddress, listAddress } from '../elements/lock-list.ts';
import { literal, type Markup } from '../elements/text.ts';
import { type Form, formField, newFormId } from '../frame/form.ts';
import { inWorkspace, type View } from '../frame/layout.ts';
import type { PageCall } from '../frame/page.ts';

const titles = { path: 'Path', duration: 'For how long', note: 'Note' } as const;

/** A sentence for each wrong field. */
export type Problems = Partial<Readonly<Record<keyof typeof titles, string>>>;

/** The form as typed. */
export type Typed = Readonly<Record<keyof typeof titles, string>>;

export interface NewLockForm {
  readonly workspace: string;
  readonly typed: Typed;
  readonly problems: Problems;
  /** Why it was refused, where that is not in a field. */
  readonly refusal: Markup | string;
  /** Whether there are paths to suggest. */
  readonly isMirrored: boolean;
}

export function newLockForm(call: PageCall, { workspace, typed, problems, refusal, isMirrored }: NewLockForm): View {
  const completion = isMirrored ? html` list="paths" data-suggestions="/workspaces/${workspace}/locks/paths"` : '';
  const main = html`${refusal}
    ${problemSummary('Nothing was locked.', titles, problems)}
    <form method="post" action="/workspaces/${workspace}/locks" class="narrow">
      ${formField(call)}
      <input type="hidden" name="form_id" value="${newFormId(call)}">
      ${field({
        id: 'path',
        title: titles.path,
        problem: problems.path,
        hint: html`As in the repository, such as ${literal('Content/Hero.uasset')}. Case-sensitive. The file does not have to exist yet.`,
        control: (aria) =>
          html`<input id="path" name="path" value="${typed.path}" required autofocus autocomplete="off" autocapitalize="none" spellcheck="false"${completion}${aria}>`,
      })}
      ${isMirrored ? html`<datalist id="paths"></datalist>` : ''}
      ${durationField(titles.duration, { text: typed.duration, problem: problems.duration })}
      ${field({
        id: 'note',
        title: titles.note,
        problem: problems.note,
        hint: `For those who find the file locked. One line of up to ${maxNoteLength} characters; may be empty.`,
        control: (aria) => html`<input id="note" name="note" value="${typed.note}" autocomplete="off"${aria}>`,
      })}
      <div class="actions"><button class="primary">Lock</button> <a class="button" href="${listAddress(workspace)}" data-escape aria-keyshortcuts="Escape">Cancel</a></div>
    </form>`;
  const script = isMirrored ? { script: 'new-lock.js' } : {};
  return { title: 'Lock a file', location: inWorkspace(workspace, 'locks'), main, ...script };
}

export const typedIn = (form: Form): Typed => ({
  path: form.text('path'),
  duration: form.text('duration'),
  note: form.text('note'),
});

export type Reading =
  | { readonly kind: 'request'; readonly path: LockPath; readonly ttl: Ttl; readonly note: string | null }
  | { readonly kind: 'wrong'; readonly problems: Problems };

/** Reports all mistakes at once. */
export function readNewLock(typed: Typed): Reading {
  const path = canonicalLockPath(typed.path.trim());
  const duration = parseTtl(typed.duration.trim());
  const note = parseNote(typed.note);
  if (path.ok && duration.ok && note.ok) {
    return { kind: 'request', path: path.value, ttl: duration.value, note: note.value };
  }
  const wrong = Object.entries({ path, duration, note }).flatMap(([name, { ok, ...parsed }]) =>
    'reason' in parsed ? [[name, parsed.reason]] : [],
  );
  return { kind: 'wrong', problems: Object.fromEntries(wrong) };
}

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
