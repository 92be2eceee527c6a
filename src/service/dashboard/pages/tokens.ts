import { html } from 'hono/html';
import type { App } from '../../http/context.ts';
import { listTokens, type Token, type TokenState } from '../../tokens/tokens.ts';
import { empty, literal, type Markup, userText } from '../elements/text.ts';
import { time } from '../elements/time.ts';
import { shownEnd, shownLastUse, shownScopes, shownWorkspaces } from '../elements/token.ts';
import { showPage } from '../frame/layout.ts';
import { addPage, type PageCall, queryOf } from '../frame/page.ts';
import type { DashboardParts } from '../frame/parts.ts';

/** In the order of the list: active tokens come first. */
const states = ['active', 'expired', 'revoked'] as const satisfies readonly TokenState[];

const notices: ReadonlyMap<string, string> = new Map([
  ['revoked', 'The token is revoked and no longer accepted.'],
  ['already-revoked', 'The token was already revoked.'],
]);

function filters(tokens: readonly Token[], current: TokenState | undefined): Markup {
  const link = (text: string, state: TokenState | undefined, count: number) => html`<li>
      <a href="/tokens${state === undefined ? '' : `?state=${state}`}"${state === current ? html` aria-current="page"` : ''}>${text} <span class="faint">${count}</span></a>
    </li>`;
  return html`<nav class="states" aria-label="Tokens by state"><ul>
    ${link('All', undefined, tokens.length)}
    ${states.map((state) => link(`${state[0]?.toUpperCase()}${state.slice(1)}`, state, tokens.filter((token) => token.state === state).length))}
  </ul></nav>`;
}

function row({ bearer, now }: PageCall, token: Token): Markup {
  const { id, name, state, scopes, workspaces, created_at } = token;
  const own = id === bearer.id ? html` <span class="own">signed in with it</span>` : '';
  const revoke =
    state === 'active'
      ? html`<a href="/tokens/${id}/revoke">Revoke<span class="visually-hidden"> ${userText(name)}</span></a>`
      : '';
  return html`<tr id="${id}">
    <th scope="row">${userText(name)}${own}<div class="id">${literal(id)}</div></th>
    <td data-label="State" class="nowrap"><span class="state ${state}">${state}</span></td>
    <td data-label="Scopes">${shownScopes(scopes)}</td>
    <td data-label="Workspaces">${shownWorkspaces(workspaces)}</td>
    <td data-label="Created">${time(created_at, now)}</td>
    <td data-label="Expires">${shownEnd(token, now)}</td>
    <td data-label="Last used">${shownLastUse(token, now)}</td>
    <td class="nowrap">${revoke}</td>
  </tr>`;
}

const table = (call: PageCall, tokens: readonly Token[]): Markup => html`<table class="cards">
    <thead><tr>
      <th scope="col">Name</th><th scope="col">State</th><th scope="col">Scopes</th><th scope="col">Workspaces</th>
      <th scope="col">Created</th><th scope="col">Expires</th><th scope="col">Last used</th>
      <th scope="col"><span class="visually-hidden">Revoke</span></th>
    </tr></thead>
    <tbody>${tokens.map((token) => row(call, token))}</tbody>
  </table>`;

export function addTokenListPage(app: App, parts: DashboardParts): void {
  addPage(app, parts, { path: '/tokens', access: 'admin' }, async (call) => {
    const query = queryOf(call, 'state', 'notice');
    const current = states.find((state) => state === query.state);
    const tokens = (await listTokens(parts.storage)).toReversed();
    const shown = states
      .filter((state) => current === undefined || state === current)
      .flatMap((state) => tokens.filter((token) => token.state === state));
    const notice = notices.get(query.notice);
    const main = html`
      ${notice === undefined ? '' : html`<p class="notice" role="status">${notice}</p>`}
      <div class="actions"><a class="button primary" href="/tokens/new">New token</a></div>
      ${filters(tokens, current)}
      ${
        shown.length === 0
          ? empty(`No token is ${current}.`, html`<a href="/tokens">Show all tokens</a>, or create one.`)
          : table(call, shown)
      }`;
    return showPage(call, { title: 'Tokens', location: { section: 'tokens' }, main });
  });
}
