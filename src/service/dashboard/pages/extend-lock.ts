import { html } from 'hono/html';
import { formatDuration } from '../../../interface/duration.ts';
import type { LockPath } from '../../../interface/lock-path.ts';
import { parseTtl } from '../../../interface/ttl.ts';
import type { ApiResponse } from '../../contract/response.ts';
import type { App } from '../../http/context.ts';
import { lfsLockTtl } from '../../workspaces/lfs-lock-ttl.ts';
import { postForm } from '../elements/fields.ts';
import { durationField, lockFacts } from '../elements/lock.ts';
import { extendAddress } from '../elements/lock-list.ts';
import type { Markup } from '../elements/text.ts';
import { type ActionCall, addAction, addPage, type PageCall } from '../frame/page.ts';
import type { DashboardParts } from '../frame/parts.ts';
import {
  backLink,
  createLockPages,
  type EnteredText,
  type LockAction,
  type LockContext,
  lockFields,
  type ReleasableLock,
  withNotice,
} from './one-lock.ts';

const route = { path: '/workspaces/:id/locks/extend', access: 'locks:write' } as const;

const change: LockAction = {
  title: 'Extend a lock',
  nothingDone: 'Nothing was extended.',
  absent: 'not-extended',
  whoMay: html`Only its holder can extend it.`,
  isAllowed: (way) => way === 'own',
  again: (workspace, lock) => html`<a href="${extendAddress(workspace, lock)}">Extend the new lock</a>`,
};

export function addExtensionPages(app: App, parts: DashboardParts): void {
  const { storage, locks } = parts;
  const pages = createLockPages(storage, change);

  addPage(app, parts, route, (call) =>
    pages.ask(call, (context, found) =>
      confirmation(call, context, found, { text: formatDuration(lfsLockTtl(context.workspace)) }),
    ),
  );

  async function extend(call: ActionCall, context: LockContext, path: LockPath): Promise<ApiResponse> {
    const workspace = context.workspace.id;
    const { form, bearer } = call;
    const id = form.text('lock');
    const text = form.text('duration');
    const ttl = parseTtl(text.trim());
    const askAgain = (problem: string): Promise<ApiResponse> =>
      pages.refuse(call, context, path, (found) => confirmation(call, context, found, { text, problem }));
    if (!ttl.ok) return askAgain(ttl.reason);
    const extension = await locks.extend({ workspace, path, ttl: ttl.value, bearer, match: (held) => held === id });
    if (extension.kind !== 'renewed')
      return askAgain('The lock already lasts longer. Choose more, or leave it as it is.');
    return withNotice(context.back, 'extended');
  }

  addAction(app, parts, route, (call) => pages.act(call, (context, path) => extend(call, context, path)));
}

const confirmation = (
  { now }: PageCall,
  context: LockContext,
  { lock }: ReleasableLock,
  { text, problem }: EnteredText,
): Markup => html`
  ${lockFacts(lock, now)}
  ${postForm({
    action: `/workspaces/${context.workspace.id}/locks/extend`,
    hidden: lockFields(context, lock),
    fields: [durationField('For how long, from now', text)],
    errors: { duration: problem },
    button: 'Extend',
    cancel: backLink(context, 'Cancel'),
  })}`;
