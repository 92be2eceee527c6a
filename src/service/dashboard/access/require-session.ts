import type { Context, MiddlewareHandler } from 'hono';
import { html } from 'hono/html';
import type { Answer } from '../../contract/answer.ts';
import { Refusal } from '../../contract/problem.ts';
import { type Access, type AccessControl, admitBearer, unauthorized } from '../../http/access.ts';
import { type Environment, send } from '../../http/context.ts';
import { isFormToken } from '../../sessions/secret.ts';
import { authenticateSession } from '../../sessions/sessions.ts';
import { pageHeaders, seeOther, wantsPage } from '../answer.ts';
import { sessionSecretIn } from './cookie.ts';
import { type Form, readForm } from './form.ts';
import { refuseOtherSites } from './same-origin.ts';

/**
 * A link on another site brings no cookie (SameSite=Strict), whoever is signed in. The same address once more, now asked
 * for by a page of ours, does.
 */
const onceMore: Answer = {
  status: 200,
  headers: pageHeaders,
  body: String(
    html`<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0"><title>Workspaces</title><p><a href="">Go on</a></p></html>`,
  ),
};

function withoutSession(c: Context<Environment>): Answer {
  if (!wantsPage(c)) throw unauthorized('The session has ended. Sign in again at /sign-in.');
  if (c.req.method !== 'GET') return seeOther('/sign-in?ended=true');
  if (c.req.header('sec-fetch-site') === 'cross-site') return onceMore;
  const to = c.env.incoming.url ?? '/';
  return seeOther(to === '/' ? '/sign-in' : `/sign-in?to=${encodeURIComponent(to)}`);
}

/** For the dashboard what requireAccess() is for the API: the same scopes, and the same limit on requests. */
export function requireSession(
  control: AccessControl,
  access: Exclude<Access, 'anyone'>,
): MiddlewareHandler<Environment> {
  return async (c, next) => {
    const secret = sessionSecretIn(c.env.incoming);
    const session = secret === undefined ? undefined : await authenticateSession(control.storage, secret);
    if (secret === undefined || session?.kind !== 'known') return send(c, withoutSession(c));
    c.set('session', { secret, now: session.now });
    admitBearer(c, control, session.bearer, access);
    await control.fairTurns(session.bearer.id);
    return next();
  };
}

/** Comes first: what a header can tell costs nothing to look at. */
export const requireSameSite: MiddlewareHandler<Environment> = async (c, next) => {
  refuseOtherSites(c.env.incoming);
  await next();
};

/** The form of a request that those before it have let through, if it comes from a page that this session was shown. */
export async function readOwnForm(c: Context<Environment>): Promise<Form> {
  const form = await readForm(c.env.incoming);
  if (!isFormToken(form.text('form_token'), c.get('session').secret)) {
    throw new Refusal(
      'cross-site',
      'This form belongs to a session that has ended, so nothing was done. Open the page again, and send it from there.',
    );
  }
  return form;
}
