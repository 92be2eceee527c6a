import { html } from 'hono/html';
import { type AuditAction, isAuditAction } from '../../audit/audit.ts';
import type { RecordedEntry } from '../../audit/read-audit.ts';
import type { Markup } from '../elements/markup.ts';
import { given, literal } from '../elements/text.ts';

type Detail = RecordedEntry['detail'];

const textIn = (detail: Detail, name: string): string | undefined => {
  const value = detail[name];
  return typeof value === 'string' ? value : undefined;
};

/** Entries are never changed, so one of an earlier version may lack what this one knows. */
const named = (detail: Detail, name: string): Markup => literal(textIn(detail, name) ?? 'unknown');

const listIn = (detail: Detail, name: string): readonly string[] => {
  const value = detail[name];
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
};

function signedIn(detail: Detail): Markup {
  return textIn(detail, 'by') === 'link'
    ? html`signed in with the link of the first start`
    : html`signed in with a token`;
}

function tokenMade(detail: Detail): Markup {
  const list = (name: string) =>
    html`${listIn(detail, name).map((text, index) => html`${index === 0 ? '' : ', '}${literal(text)}`)}`;
  const workspaces = detail['workspaces'];
  const limit = Array.isArray(workspaces) ? html`, only in ${list('workspaces')}` : '';
  return html`made the token ${named(detail, 'name')} with ${list('scopes')}${limit}`;
}

function forceReleased(detail: Detail): Markup {
  const reason = textIn(detail, 'reason');
  return html`released the lock on ${named(detail, 'path')} in ${named(detail, 'workspace')}, held by
    ${named(detail, 'owner')}, by force${reason === undefined ? '' : html`: “${given(reason)}”`}`;
}

const hook = (detail: Detail): Markup =>
  html`the webhook to ${named(detail, 'origin')} in ${named(detail, 'workspace')}`;

/** What somebody did, as the rest of a sentence that begins with who it was. */
function done(action: AuditAction, detail: Detail): Markup {
  switch (action) {
    case 'session.signed-in':
      return signedIn(detail);
    case 'session.signed-out':
      return html`signed out`;
    case 'token.created':
      return tokenMade(detail);
    case 'token.revoked':
      return html`revoked the token ${named(detail, 'name')}`;
    case 'lock.force-released':
      return forceReleased(detail);
    case 'hook.registered':
      return html`registered ${hook(detail)}`;
    case 'hook.replaced':
      return html`changed ${hook(detail)}`;
    case 'hook.paused':
      return html`paused ${hook(detail)}`;
    case 'hook.resumed':
      return html`resumed ${hook(detail)}`;
    case 'hook.removed':
      return html`removed ${hook(detail)}`;
    case 'delivery.sent-again':
      return html`sent a delivery of ${hook(detail)} again`;
    case 'workspace.added':
      return html`added the workspace ${named(detail, 'workspace')}, a mirror of ${named(detail, 'remote')}`;
    case 'workspace.removed':
      return html`removed the workspace ${named(detail, 'workspace')}, a mirror of ${named(detail, 'remote')}`;
  }
}

/** What another version has recorded is shown as it is. */
export const sentence = ({ actor, action, detail }: RecordedEntry): Markup =>
  html`<strong>${given(actor)}</strong> ${isAuditAction(action) ? done(action, detail) : html`did ${literal(action)}`}`;
