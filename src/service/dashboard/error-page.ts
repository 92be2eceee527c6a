import type { Context } from 'hono';
import { html } from 'hono/html';
import { problems } from '../../interface/problem.ts';
import type { Refusal } from '../contract/problem.ts';
import { type Environment, send } from '../http/context.ts';
import { safeText } from '../safe-text.ts';
import { showOpenPage, showPage, type View } from './layout.ts';

/** What a problem is to the API: what went wrong, and the number under which the log tells more. */
export async function sendErrorPage(c: Context<Environment>, refusal: Refusal): Promise<Response> {
  const { status, title } = problems[refusal.problem];
  const view: View = {
    title,
    place: { section: 'none' },
    main: html`<p>${safeText(refusal.message)}</p>
      <p><a href="/">Go to the workspaces</a></p>
      <p class="faint">Request <code>${c.get('requestId')}</code></p>`,
  };
  // Somebody is signed in as soon as the session has been found.
  const session: Environment['Variables']['session'] | undefined = c.get('session');
  const bearer: Environment['Variables']['bearer'] | undefined = c.get('bearer');
  const page =
    session === undefined || bearer === undefined
      ? await showOpenPage(view, status)
      : await showPage({ c, bearer, now: session.now }, view, status);
  return send(c, { ...page, headers: { ...refusal.extras.headers, ...page.headers } });
}
