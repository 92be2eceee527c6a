import { html } from 'hono/html';
import { pluralize } from '../../../interface/format.ts';
import { actorOf } from '../../access/caller.ts';
import { Refusal } from '../../contract/problem.ts';
import { endedCookie } from '../../sessions/session-cookie.ts';
import type { Storage } from '../../storage/storage.ts';
import { looksLikeTokenId } from '../../tokens/secret.ts';
import {
  type Dependents,
  dependentsOf,
  listTokens,
  revokeTokenAudited,
  type Token,
  type TokenState,
} from '../../tokens/tokens.ts';
import { buttonLink, postForm } from '../elements/fields.ts';
import { hiddenHeading, htmlTable, type Row } from '../elements/list.ts';
import { faint, literal, literals, type Markup, time, userText } from '../elements/text.ts';
import { addAction, addPage, type PageCall, type Site, type View } from '../frame/page.ts';

/** States, in the order of the list: active tokens come first. */
const states = ['active', 'expired', 'revoked'] as const satisfies readonly TokenState[];

const revokeRoute = { path: '/tokens/:token/revoke', access: 'admin' } as const;

export function addTokenPages(site: Site): void {
  const { storage } = site;

  addPage(site, { path: '/tokens', access: 'admin' }, async (call) => {
    const tokens = (await listTokens(storage)).toReversed();
    const ordered = states.flatMap((state) => tokens.filter((token) => token.state === state));
    const main = htmlTable(ordered.map((token) => row(call, token)));
    const actions = html`<a class="button primary" href="/tokens/new">New token</a>`;
    return { title: 'Tokens', actions, main };
  });

  addPage(site, revokeRoute, async (call) => {
    const planned = await plannedRevocation(storage, tokenIdOf(call));
    return planned.token.state === 'active' ? confirmation(call, planned) : inactiveView(planned.token);
  });

  addAction(site, revokeRoute, async (call) => {
    const id = tokenIdOf(call);
    const revocation = await storage.commit('global', (db) => revokeTokenAudited(db, storage.now, actorOf(call.c), id));
    if (revocation === 'unknown') throw noSuchToken();
    if (id !== call.bearer.id) return { to: '/tokens', notice: revocation };
    return { to: '/sign-in', notice: 'session-revoked', cookie: endedCookie(call.c.env.incoming) };
  });
}

/** The id in the URL. Invalid ids are not looked up, because they may contain characters that a database rejects. */
export function tokenIdOf({ c }: PageCall): string {
  const id = c.req.param('token') ?? '';
  if (!looksLikeTokenId(id)) throw noSuchToken();
  return id;
}

function row({ bearer, now }: PageCall, token: Token): Row {
  const { id, name, state, replaced_by, created_at } = token;
  const own = id === bearer.id ? html` <span class="faint">(signed in with it)</span>` : '';
  const action = (verb: 'rotate' | 'revoke', text: string) =>
    html`<a href="/tokens/${id}/${verb}">${text}<span class="visually-hidden"> ${userText(name)}</span></a>`;
  const rotate = state === 'active' && replaced_by === null ? html`${action('rotate', 'Rotate')} ` : '';
  const revoke = state === 'active' ? action('revoke', 'Revoke') : '';
  const rotated = replaced_by === null ? '' : html` <a href="/tokens#${replaced_by}">rotated</a>`;
  return [
    ['Name', html`${userText(name)}${own}<div class="faint" id="${id}">${literal(id)}</div>`, 'head'],
    ['Owner', userText(token.owner)],
    ['State', html`<span class="state ${state}">${state}</span>${rotated}`, 'nowrap'],
    ['Scopes', scopeList(token)],
    ['Workspaces', workspaceList(token)],
    ['Created', time(created_at, now)],
    ['Expires', expiryText(token, now)],
    ['Last used', lastUseText(token, now)],
    [hiddenHeading('Rotate or revoke'), html`${rotate}${revoke}`, 'nowrap'],
  ];
}

type Revocation = Awaited<ReturnType<typeof plannedRevocation>>;

async function plannedRevocation(storage: Storage, id: string) {
  const tokens = await listTokens(storage);
  const token = tokens.find((each) => each.id === id);
  if (token === undefined) throw noSuchToken();
  return {
    token,
    dependents: await dependentsOf(storage, id),
    /** Whether nobody could create tokens on the dashboard any more. */
    isLastAdministrator: isAdministrator(token) && !tokens.some((other) => other.id !== id && isAdministrator(other)),
  };
}

export const noSuchToken = (): Refusal => new Refusal('not-found', 'There is no such token.');

const isAdministrator = ({ state, scopes }: Token): boolean => state === 'active' && scopes.includes('admin');

function confirmation(call: PageCall, planned: Revocation): View {
  const { token, dependents } = planned;
  const { now } = call;
  const main = html`
    <p>Every request with this token will be refused. This cannot be undone.</p>
    ${warnings(call, planned)}
    ${tokenFacts(
      token,
      now,
      html`<dt>Created</dt><dd>${time(token.created_at, now)}</dd>
        <dt>Last used</dt><dd>${lastUseText(token, now)}</dd>
        <dt>Locks it took</dt><dd>${locksOf(dependents)}</dd>`,
    )}
    ${postForm({ action: `/tokens/${token.id}/revoke`, kind: 'danger', button: 'Revoke token', cancel: buttonLink('/tokens', 'Cancel') })}`;
  return { title: `Revoke the token ${token.name}?`, main };
}

export const tokenFacts = (token: Token, now: number, more: Markup | string = ''): Markup =>
  html`<dl class="facts">
    <dt>Token</dt><dd>${userText(token.name)} <span class="faint">${literal(token.id)}</span></dd>
    <dt>Owner</dt><dd>${userText(token.owner)}</dd>
    <dt>Scopes</dt><dd>${scopeList(token)}</dd>
    <dt>Workspaces</dt><dd>${workspaceList(token)}</dd>
    <dt>Expires</dt><dd>${expiryText(token, now)}</dd>
    ${more}
  </dl>`;

const scopeList = ({ scopes }: Token): Markup => (scopes.length === 0 ? faint('none') : literals(scopes));

const workspaceList = ({ workspaces }: Token): Markup => (workspaces === null ? html`all` : literals(workspaces));

const expiryText = ({ expires_at }: Pick<Token, 'expires_at'>, now: number): Markup =>
  expires_at === null ? html`never` : time(expires_at, now);

const lastUseText = ({ last_used_at }: Pick<Token, 'last_used_at'>, now: number): Markup =>
  last_used_at === null ? faint('not yet') : time(last_used_at, now);

function warnings(call: PageCall, { token, dependents, isLastAdministrator }: Revocation): Markup {
  const own = token.id === call.bearer.id;
  const others = dependents.sessions - (own ? 1 : 0);
  return html`
    ${own ? html`<p class="warning">You are signed in with this token. <strong>Revoking it ends your session</strong>, and you need another token to sign in again.</p>` : ''}
    ${isLastAdministrator ? html`<p class="warning">This is the last active token with the scope <code>admin</code>. To create another, run on the machine of the service: <code>workspace-service token create --name NAME --scopes admin</code></p>` : ''}
    ${others > 0 ? html`<p>It also ends ${pluralize(others, own ? 'other dashboard session' : 'dashboard session')}.</p>` : ''}`;
}

function locksOf({ locks, someLocks }: Dependents): Markup | string {
  if (locks === 0) return 'none';
  const more = locks - someLocks.length;
  return html`${pluralize(locks, 'lock')}. ${locks === 1 ? 'It stays until it is released or expires.' : 'They stay until they are released or expire.'}
    <ul>${someLocks.map(({ workspace, path }) => html`<li>${literal(path)} in <a href="/workspaces/${workspace}/locks">${userText(workspace)}</a></li>`)}
    ${more > 0 ? html`<li>and ${pluralize(more, 'other')}</li>` : ''}</ul>`;
}

const inactiveView = ({ name, state }: Token): View => ({
  title: `The token ${name} is no longer active`,
  main: html`<p>There is nothing to revoke: the token ${state === 'revoked' ? 'was already revoked' : 'has expired'}.</p>
    <p><a href="/tokens">All tokens</a></p>`,
});
