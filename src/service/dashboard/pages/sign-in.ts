import type { Context } from 'hono';
import { html } from 'hono/html';
import { refused } from '../../../interface/parsed.ts';
import { admitToken, refuseUntil } from '../../access/access.ts';
import { actorOf } from '../../access/caller.ts';
import type { ApiResponse } from '../../contract/response.ts';
import { type Environment, send } from '../../http/context.ts';
import { subscriberOf } from '../../platform/ip-address.ts';
import { limitRate, perMinute } from '../../runtime/limit-rate.ts';
import { endedCookie, sessionCookie, sessionSecretIn } from '../../sessions/session-cookie.ts';
import {
  authenticateSession,
  endSession,
  looksLikeLinkSecret,
  startSession,
  useSignInLink,
} from '../../sessions/sessions.ts';
import { looksLikeTokenSecret } from '../../tokens/secret.ts';
import { authenticate } from '../../tokens/tokens.ts';
import { postForm, textInput } from '../elements/fields.ts';
import type { Markup } from '../elements/markup.ts';
import { readForm, textIn } from '../frame/form.ts';
import { seeOther, showPage, type View } from '../frame/layout.ts';
import { addAction, noticeOf, queryOf, type Site } from '../frame/page.ts';
import { requireSameSite } from '../frame/session.ts';

/** Limit per IP address, which many people may share. Each sign-in adds a session and a permanent audit entry. */
const attempts = perMinute(60);

const refusedToken = 'This is not a token. A token is wsa_ followed by 43 letters, digits, dashes or underscores.';
const endedLink =
  'The link was already used or is older than an hour. Create a token with: workspace-service token create --name NAME --scopes admin';
const tokenOfRun = 'This token belongs to a CI run and expires within 15 minutes. Sign in with a token of your own.';

export function addSignInPages(site: Site): void {
  const { app, storage } = site;
  const { charge } = limitRate(attempts);

  /** Without a session, attempts are counted by IP address, before the form is read. */
  async function readSignIn(c: Context<Environment>) {
    const address = c.get('clientAddress');
    refuseUntil(charge(subscriberOf(address ?? '')), 'Too many sign-in attempts from here.');
    return { form: await readForm(c.env.incoming), address };
  }

  async function showSignIn(c: Context<Environment>): Promise<ApiResponse> {
    const { link, to } = queryOf({ c }, 'link', 'to');
    if (looksLikeLinkSecret(link)) return showPage(undefined, linkForm(link));
    const session = await authenticateSession(storage, sessionSecretIn(c.env.incoming));
    if (session !== undefined) return seeOther(localPath(to));
    return showPage(undefined, { ...tokenForm(localPath(to)), notice: noticeOf({ c }, '') });
  }

  async function signInWithToken(c: Context<Environment>): Promise<ApiResponse> {
    const { form, address } = await readSignIn(c);
    const to = localPath(textIn(form, 'to'));
    const token = textIn(form, 'token');
    const authentication = looksLikeTokenSecret(token) ? await authenticate(storage, token) : refused(refusedToken);
    if (!authentication.ok) return showPage(undefined, tokenForm(to, authentication.reason));
    const bearer = authentication.value;
    if (bearer.run !== undefined) return showPage(undefined, tokenForm(to, tokenOfRun));
    admitToken(c, site, bearer);
    const actor = { name: bearer.name, tokenId: bearer.id, address };
    const secret = await storage.commit('tokens', (db) => startSession(db, actor, 'token'));
    return seeOther(to, { 'set-cookie': sessionCookie(c.env.incoming, secret) });
  }

  async function signInWithLink(c: Context<Environment>): Promise<ApiResponse> {
    const { form, address } = await readSignIn(c);
    const secret = await useSignInLink(storage, textIn(form, 'link'), address);
    if (secret === undefined) return showPage(undefined, tokenForm('/', endedLink));
    return seeOther('/', { 'set-cookie': sessionCookie(c.env.incoming, secret) });
  }

  app.get('/sign-in', async (c) => send(c, await showSignIn(c)));
  app.post('/sign-in', requireSameSite, async (c) => send(c, await signInWithToken(c)));
  app.post('/sign-in/link', requireSameSite, async (c) => send(c, await signInWithLink(c)));

  addAction(site, '/sign-out', 'any-token', undefined, async ({ c }) => {
    const { secret } = c.get('session');
    await storage.commit('tokens', (db) => endSession(db, actorOf(c), secret));
    return { to: '/sign-in', notice: 'signed-out', cookie: endedCookie(c.env.incoming) };
  });
}

const here = 'http://here.invalid';

/** Where to go after signing in: always a page of the dashboard, even if the link contains another URL. */
function localPath(text: string): string {
  if (!text.startsWith('/') || !URL.canParse(text, here)) return '/';
  const { origin, pathname, search } = new URL(text, here);
  // Browsers treat "//host" and "/\host" as URLs of other hosts.
  return origin === here && !pathname.startsWith('//') ? pathname + search : '/';
}

const hint = html`
  It starts with <code>wsa_</code>. Its scopes decide what you see here. An administrator creates it, here under “Tokens” or
  with <code>workspace-service token create</code>.`;

const tokenForm = (to: string, problem?: string): View =>
  signInView(
    html`
    <p class="narrow">This service locks large files that cannot be merged, so that two people or jobs never change one at
      the same time. Here you see who holds which file, since when and from which run.</p>
    ${postForm({
      action: '/sign-in',
      hidden: { to },
      fields: [textInput('token', 'API token', { hint, type: 'password', attributes: html` required autofocus` })],
      button: 'Sign in',
    })}`,
    problem,
  );

const linkForm = (link: string): View =>
  signInView(html`
    <p>This link signs you in as an administrator, once. Use it to create a token for yourself.</p>
    ${postForm({ action: '/sign-in/link', hidden: { link }, button: 'Sign in as administrator' })}`);

const signInView = (main: Markup, problem?: string): View => ({
  title: 'Sign in',
  main,
  ...(problem !== undefined && { problem, status: 403 }),
});
