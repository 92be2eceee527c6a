import { html } from 'hono/html';
import { grants, type Scope } from '../../interface/scopes.ts';
import type { Answer } from '../contract/answer.ts';
import { formToken } from '../sessions/secret.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { pageHeaders } from './answer.ts';
import { assetPath } from './assets.ts';
import type { Markup } from './elements/markup.ts';
import { given } from './elements/text.ts';
import type { PageCall } from './page.ts';

/** Where a page stands: in a workspace, in one of the other sections, or nowhere. */
export type Place =
  | { readonly section: 'workspaces' }
  | { readonly section: 'workspaces'; readonly workspace: string; readonly tab: Tab }
  | { readonly section: 'tokens' | 'audit' }
  | { readonly section: 'none' };

export type Tab = 'branches' | 'locks' | 'syncs' | 'hooks';

export interface View {
  /** The heading and, with the name of the service, the title of the window. */
  readonly title: string;
  readonly place: Place;
  readonly main: Markup;
  /** Beside those that every page has. */
  readonly scripts?: readonly string[];
  readonly styles?: readonly string[];
}

interface Link {
  readonly href: string;
  readonly text: string;
  readonly current: boolean;
}

const link = ({ href, text, current }: Link): Markup =>
  html`<li><a href="${href}"${current ? html` aria-current="page"` : ''}>${text}</a></li>`;

const tabs: readonly { readonly tab: Tab; readonly text: string; readonly path: string; readonly needs?: Scope }[] = [
  { tab: 'branches', text: 'Branches', path: '' },
  { tab: 'locks', text: 'Locks', path: '/locks', needs: 'locks:read' },
  { tab: 'syncs', text: 'Syncs', path: '/syncs', needs: 'sync' },
  { tab: 'hooks', text: 'Webhooks', path: '/hooks', needs: 'hooks:write' },
];

/** Only what the token lets see: a link to a refusal helps nobody. */
function workspaceNavigation(workspace: string, current: Tab, { scopes }: Bearer): Markup {
  const shown = tabs.filter(({ needs }) => needs === undefined || grants(scopes, needs));
  const links = shown.map(({ tab, text, path }) =>
    link({ href: `/workspaces/${workspace}${path}`, text, current: tab === current }),
  );
  return html`<nav class="tabs" aria-label="Workspace ${workspace}">
    <p class="tabs-title">${given(workspace)}</p>
    <ul>${links}</ul>
  </nav>`;
}

function mainNavigation({ section }: Place, { scopes }: Bearer): Markup {
  const links: Link[] = [{ href: '/', text: 'Workspaces', current: section === 'workspaces' }];
  if (grants(scopes, 'admin')) {
    links.push({ href: '/tokens', text: 'Tokens', current: section === 'tokens' });
    links.push({ href: '/audit', text: 'Audit', current: section === 'audit' });
  }
  return html`<nav aria-label="Main"><ul>${links.map(link)}</ul></nav>`;
}

/** The hidden field that every form of a session has. */
export const formField = ({ c }: Pick<PageCall, 'c'>): Markup =>
  html`<input type="hidden" name="form_token" value="${formToken(c.get('session').secret)}">`;

const signedIn = (call: PageCall): Markup => html`<div class="who">
    <span>Signed in as ${given(call.bearer.name)}</span>
    <form method="post" action="/sign-out">${formField(call)}<button class="quiet">Sign out</button></form>
  </div>`;

/** Everything around the content. `call` is absent where nobody is signed in. */
async function pageOf(
  { title, place, main, scripts = [], styles = [] }: View,
  call: PageCall | undefined,
): Promise<string> {
  const inWorkspace =
    call !== undefined && 'workspace' in place ? workspaceNavigation(place.workspace, place.tab, call.bearer) : '';
  const style = (name: string) => html`<link rel="stylesheet" href="${assetPath(name)}">`;
  const script = (name: string) => html`<script type="module" src="${assetPath(name)}"></script>`;
  const page = await html`<!doctype html>
<html lang="en" data-now="${call?.now ?? Date.now()}">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>${title} · Workspaces</title>
  ${['style.css', ...styles].map(style)}
  <link rel="icon" href="${assetPath('icon.svg')}">
  ${['page.js', ...scripts].map(script)}
</head>
<body>
  <a class="skip" href="#main">Skip to the content</a>
  <header class="top">
    <a class="brand" href="/"><img src="${assetPath('icon.svg')}" alt="" width="20" height="20">Workspace service</a>
    ${call === undefined ? '' : [mainNavigation(place, call.bearer), signedIn(call)]}
  </header>
  ${inWorkspace}
  <main id="main" tabindex="-1">
    <h1>${given(title)}</h1>
    ${main}
  </main>
</body>
</html>`;
  return String(page);
}

export async function showPage(call: PageCall, view: View, status = 200): Promise<Answer> {
  return { status, headers: pageHeaders, body: await pageOf(view, call) };
}

/** For whoever is not signed in. */
export async function showOpenPage(view: View, status = 200): Promise<Answer> {
  return { status, headers: pageHeaders, body: await pageOf(view, undefined) };
}
