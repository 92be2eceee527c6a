import { html } from 'hono/html';
import { formatDuration } from '../../../interface/duration.ts';
import { grants } from '../../../interface/scopes.ts';
import { parseTtl } from '../../../interface/ttl.ts';
import { actorOf } from '../../http/context.ts';
import { lfsLockTtl } from '../../workspaces/lfs-lock-ttl.ts';
import { type FormField, linesInput, postForm } from '../elements/fields.ts';
import { durationField, lockFacts } from '../elements/lock.ts';
import { extendAddress, releaseAddress } from '../elements/lock-list.ts';
import type { Site } from '../frame/page.ts';
import { addLockAction, type ReleasableLock } from './one-lock.ts';

/** The pages that extend and release a lock. */
export function addLockChangePages(site: Site): void {
  const { locks } = site;

  addLockAction(site, {
    name: 'extend',
    title: 'Extend a lock',
    nothingDone: 'Nothing was extended.',
    done: 'extended',
    absent: 'not-extended',
    whoMay: html`Only its holder can extend it.`,
    isAllowed: (way) => way === 'own',
    again: (workspace, lock) => html`<a href="${extendAddress(workspace, lock)}">Extend the new lock</a>`,
    confirmation: ({ workspace, now }, { lock }, form, entered) => html`
      ${lockFacts(lock, now)}
      ${postForm({
        ...form,
        action: `/workspaces/${workspace.id}/locks/extend`,
        fields: [durationField('For how long, from now', entered?.text ?? formatDuration(lfsLockTtl(workspace)))],
        errors: { duration: entered?.problem },
        button: 'Extend',
      })}`,
    async act({ workspace: { id: workspace }, form, bearer }, path) {
      const id = form.text('lock');
      const text = form.text('duration');
      const ttl = parseTtl(text.trim());
      if (!ttl.ok) return { text, problem: ttl.reason };
      const { kind } = await locks.extend({ workspace, path, ttl: ttl.value, bearer, match: (held) => held === id });
      const problem = 'The lock already lasts longer. Choose more, or leave it as it is.';
      return kind === 'renewed' ? undefined : { text, problem };
    },
  });

  addLockAction(site, {
    name: 'release',
    title: 'Release a lock',
    nothingDone: 'Nothing was released.',
    done: 'released',
    absent: 'absent',
    whoMay: html`Only its holder, or a token with the scope <code>locks:admin</code>, can release it.`,
    isAllowed: (way) => way !== 'none',
    again: (workspace, lock) => html`<a href="${releaseAddress(workspace, lock)}">Release the new lock</a>`,
    confirmation({ workspace, now }, found, form, entered) {
      const force = found.way === 'force';
      return html`
        <p class="warning">${warningOf(found)}</p>
        ${lockFacts(found.lock, now)}
        ${postForm({
          ...form,
          action: `/workspaces/${workspace.id}/locks/release`,
          fields: force ? [reasonField(entered?.text)] : [],
          errors: { reason: entered?.problem },
          button: force ? 'Force release' : 'Release',
          kind: 'danger',
          autofocus: !force,
        })}`;
    },
    async act({ workspace, c, form, bearer }, path) {
      const id = form.text('lock');
      const reason = form.text('reason').trim();
      const problem = reasonProblem(reason);
      const force = grants(bearer.scopes, 'locks:admin') && problem === undefined;
      const { kind } = await locks.release({
        workspace: workspace.id,
        path,
        match: (held) => held === id,
        releaser: { ...actorOf(c), owner: bearer.owner, force, reason },
      });
      return kind === 'released' ? undefined : { text: reason, problem };
    },
  });
}

const maxReasonLength = 500;

export function reasonProblem(reason: string): string | undefined {
  if (reason === '') return 'Enter a reason: the holder of the lock will ask.';
  return reason.length > maxReasonLength ? `It must not be longer than ${maxReasonLength} characters.` : undefined;
}

export const reasonField = (value = ''): FormField =>
  linesInput('reason', 'Reason', value, {
    hint: 'It is recorded in the audit, with your name.',
    rows: 3,
    more: html` maxlength="${maxReasonLength}" required autofocus`,
  });

function warningOf({ lock, way }: ReleasableLock): string {
  if (way === 'force') {
    return 'Someone else holds this lock. A job that is still running relies on it and may overwrite changes that others make now. Make sure the run has ended.';
  }
  return lock.origin === null
    ? 'This lock is yours. Once it is released, others can lock the file: push your changes first.'
    : 'This lock is yours. A job that is still running relies on it. Make sure the run has ended.';
}
