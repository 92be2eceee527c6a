import { html } from 'hono/html';
import { actorOf } from '../../access/caller.ts';
import { Refusal } from '../../contract/response.ts';
import { endedCookie } from '../../sessions/session-cookie.ts';
import { looksLikeTokenId } from '../../tokens/secret.ts';
import { findToken, listTokens, revokeToken, rotateToken, type Token, type TokenState } from '../../tokens/tokens.ts';
import { postForm } from '../elements/fields.ts';
import { htmlTable, literal, type Markup, pointInTime, type Row, time, userText } from '../elements/markup.ts';
import type { PageCall, View } from '../frame/layout.ts';
import { addAction, addPage, type Site } from '../frame/page.ts';
import { createdTokenView, expiryText, scopeList, tokenFacts, workspaceList } from './new-token.ts';

/** States, in the order of the list: active tokens first. */
const states = ['active', 'expired', 'revoked'] as const satisfies readonly TokenState[];

export function addTokenPages(site: Site): void {
  const { storage } = site;

  addPage(site, '/tokens', 'admin', async (call) => {
    const tokens = (await listTokens(storage)).toReversed();
    const ordered = states.flatMap((state) => tokens.filter((token) => token.state === state));
    const actions = html`<a class="button primary" href="/tokens/new">New token</a>`;
    return { title: 'Tokens', actions, main: htmlTable(ordered.map((token) => row(call, token))) };
  });

  const tokenPage = (call: PageCall) => tokenView(site, call);
  addPage(site, '/tokens/:token', 'admin', tokenPage);

  addAction(site, '/tokens/:token/rotate', 'admin', tokenPage, async (call) => {
    const id = idIn(call);
    const rotation = await storage.commit('global', (db) => rotateToken(db, actorOf(call.c), id));
    if (rotation.kind === 'unknown') throw noSuchToken();
    if (rotation.kind === 'over') return { to: tokenUrl(id), notice: 'unrotated' };
    const { token, oldValidUntil } = rotation;
    const result = html`The token ${userText(token.name)} was rotated; the old secret is valid until ${pointInTime(oldValidUntil)}.`;
    return createdTokenView(call, rotation, result);
  });

  addAction(site, '/tokens/:token/revoke', 'admin', tokenPage, async (call) => {
    const id = idIn(call);
    const revocation = await storage.commit('global', (db) => revokeToken(db, actorOf(call.c), id));
    if (revocation === 'unknown') throw noSuchToken();
    if (id !== call.bearer.id) return { to: tokenUrl(id) };
    return { to: '/sign-in', notice: 'session-revoked', cookie: endedCookie(call.c.env.incoming) };
  });
}

/** The id is not looked up if it is invalid, because it may contain characters that a database rejects. */
function idIn({ c }: PageCall): string {
  const id = c.req.param('token') ?? '';
  if (!looksLikeTokenId(id)) throw noSuchToken();
  return id;
}

const noSuchToken = (): Refusal => new Refusal('not-found', 'There is no such token.');

const tokenUrl = (id: string): string => `/tokens/${id}`;

function row({ bearer, now }: PageCall, token: Token): Row {
  const { id, name, created_at } = token;
  const own = id === bearer.id ? html` <span class="faint">(signed in with it)</span>` : '';
  return [
    [
      'Name',
      html`<a href="${tokenUrl(id)}">${userText(name)}</a>${own}<div class="faint">${literal(id)}</div>`,
      'head',
    ],
    ['Owner', userText(token.owner)],
    ['State', stateText(token), 'nowrap'],
    ['Scopes', scopeList(token)],
    ['Workspaces', workspaceList(token)],
    ['Created', time(created_at, now)],
    ['Expires', expiryText(token, now)],
  ];
}

const stateText = ({ state, replaced_by }: Token): Markup =>
  html`<span class="state ${state}">${state}</span>${replaced_by === null ? '' : html` <a href="${tokenUrl(replaced_by)}">rotated</a>`}`;

/** A token, everything that depends on it, and forms to rotate or revoke it. */
async function tokenView({ storage }: Site, call: PageCall): Promise<View> {
  const token = await findToken(storage.read, idIn(call));
  if (token === undefined) throw noSuchToken();
  const more = html`<dt>State</dt><dd>${stateText(token)}</dd>
    <dt>Created</dt><dd>${time(token.created_at, call.now)}</dd>`;
  const main = html`${tokenFacts(token, call.now, more)}
    ${token.state === 'active' && token.replaced_by === null ? rotation(call, token) : ''}
    ${token.state === 'active' ? revocation(call, token) : ''}`;
  return { title: `The token ${token.name}`, main };
}

const rotation = ({ bearer }: PageCall, { id }: Token): Markup =>
  html`<h2>Rotate</h2>
    <p>A new token with a new secret takes over, with the same name, owner, rights and lifetime. Locks stay with their owner. The
      old secret stays valid for 7 days, so that jobs can finish: to end it at once, revoke this token afterwards.</p>
    ${id === bearer.id ? html`<p class="warning">You are signed in with this token. Your session ends with the old secret.</p>` : ''}
    ${postForm({ action: `${tokenUrl(id)}/rotate`, button: 'Rotate token' })}`;

const revocation = ({ bearer }: PageCall, { id }: Token): Markup =>
  html`<h2>Revoke</h2>
    <p>Every request with this token will be refused, and its sessions end. This cannot be undone. Locks stay until they are
      released or expire.</p>
    ${id === bearer.id ? html`<p class="warning">You are signed in with this token. Revoking it ends your session.</p>` : ''}
    ${postForm({ action: `${tokenUrl(id)}/revoke`, kind: 'danger', button: 'Revoke token' })}`;
