import { html } from 'hono/html';
import { Refusal } from '../../contract/problem.ts';
import { type App, actorOf } from '../../http/context.ts';
import type { Storage } from '../../storage/storage.ts';
import { revokeTokenAudited } from '../../tokens/audited.ts';
import { type Dependents, dependentsOf } from '../../tokens/dependents.ts';
import { looksLikeTokenId } from '../../tokens/secret.ts';
import { listTokens, type Token } from '../../tokens/tokens.ts';
import { plural } from '../assets/text.js';
import { literal, type Markup, userText } from '../elements/text.ts';
import { time } from '../elements/time.ts';
import { shownEnd, shownLastUse, shownScopes, shownWorkspaces } from '../elements/token.ts';
import { seeOther } from '../frame/answer.ts';
import { formField } from '../frame/form.ts';
import { showPage, type View } from '../frame/layout.ts';
import { addAction, addPage, type PageCall } from '../frame/page.ts';
import type { DashboardParts } from '../frame/parts.ts';
import { speaksHttps } from '../frame/same-origin.ts';
import { endedCookie } from '../frame/session.ts';

const route = { path: '/tokens/:token/revoke', access: 'admin' } as const;

const noSuchToken = (): Refusal => new Refusal('not-found', 'There is no such token.');

/** An impossible id is not looked up: it may have characters that a database refuses. */
function idIn({ c }: PageCall): string {
  const id = c.req.param('token') ?? '';
  if (!looksLikeTokenId(id)) throw noSuchToken();
  return id;
}

interface Confirmation {
  readonly token: Token;
  readonly dependents: Dependents;
  /** Whether nobody could create tokens here any more. */
  readonly lastAdministrator: boolean;
}

const isAdministrator = ({ state, scopes }: Token): boolean => state === 'active' && scopes.includes('admin');

async function confirmationOf(storage: Storage, id: string): Promise<Confirmation> {
  const tokens = await listTokens(storage);
  const token = tokens.find((each) => each.id === id);
  if (token === undefined) throw noSuchToken();
  return {
    token,
    dependents: await dependentsOf(storage, id),
    lastAdministrator: isAdministrator(token) && !tokens.some((other) => other.id !== id && isAdministrator(other)),
  };
}

function locksOf({ locks, someLocks }: Dependents): Markup | string {
  if (locks === 0) return 'none';
  const more = locks - someLocks.length;
  return html`${plural(locks, 'lock')}. They stay until they are released or expire.
    <ul>${someLocks.map(({ workspace, path }) => html`<li>${literal(path)} in <a href="/workspaces/${workspace}/locks">${userText(workspace)}</a></li>`)}
    ${more > 0 ? html`<li>and ${plural(more, 'other')}</li>` : ''}</ul>`;
}

function warnings(call: PageCall, { token, dependents, lastAdministrator }: Confirmation): Markup {
  const own = token.id === call.bearer.id;
  const others = dependents.sessions - (own ? 1 : 0);
  return html`
    ${own ? html`<p class="warning">You are signed in with this token. <strong>Revoking it ends your session</strong>, and you need another token to sign in again.</p>` : ''}
    ${lastAdministrator ? html`<p class="warning">This is the last active token with the scope <code>admin</code>. To create another, run on the machine of the service: <code>workspace-service token create --name NAME --scopes admin</code></p>` : ''}
    ${others > 0 ? html`<p>It also ends ${plural(others, own ? 'other dashboard session' : 'dashboard session')}.</p>` : ''}`;
}

function confirmation(call: PageCall, asked: Confirmation): View {
  const { token, dependents } = asked;
  const { now } = call;
  const main = html`
    <p>From then on every request with it is refused. This cannot be undone.</p>
    ${warnings(call, asked)}
    <dl class="facts">
      <dt>Token</dt><dd>${userText(token.name)} <span class="faint">${literal(token.id)}</span></dd>
      <dt>Scopes</dt><dd>${shownScopes(token.scopes)}</dd>
      <dt>Workspaces</dt><dd>${shownWorkspaces(token.workspaces)}</dd>
      <dt>Created</dt><dd>${time(token.created_at, now)}</dd>
      <dt>Expires</dt><dd>${shownEnd(token, now)}</dd>
      <dt>Last used</dt><dd>${shownLastUse(token, now)}</dd>
      <dt>Locks it holds</dt><dd>${locksOf(dependents)}</dd>
    </dl>
    <form method="post" action="/tokens/${token.id}/revoke" class="actions">
      ${formField(call)}<button class="danger">Revoke token</button> <a class="button" href="/tokens">Cancel</a>
    </form>`;
  return { title: `Revoke the token ${token.name}?`, location: { section: 'tokens' }, main };
}

const over = ({ name, state }: Token): View => ({
  title: `The token ${name} is no longer active`,
  location: { section: 'tokens' },
  main: html`<p>There is nothing to revoke: the token ${state === 'revoked' ? 'was already revoked' : 'has expired'}.</p>
    <p><a href="/tokens">All tokens</a></p>`,
});

export function addRevokeTokenPages(app: App, parts: DashboardParts): void {
  const { storage } = parts;

  addPage(app, parts, route, async (call) => {
    const asked = await confirmationOf(storage, idIn(call));
    return showPage(call, asked.token.state === 'active' ? confirmation(call, asked) : over(asked.token));
  });

  addAction(app, parts, route, async (call) => {
    const id = idIn(call);
    const revocation = await storage.commit('global', (db) => revokeTokenAudited(db, storage.now, actorOf(call.c), id));
    if (revocation === 'unknown') throw noSuchToken();
    if (id !== call.bearer.id) return seeOther(`/tokens?notice=${revocation}`);
    return seeOther('/sign-in?revoked=true', { 'set-cookie': endedCookie(speaksHttps(call.c.env.incoming)) });
  });
}
