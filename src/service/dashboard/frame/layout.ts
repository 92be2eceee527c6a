import type { Context, ContextVariableMap } from 'hono';
import { html } from 'hono/html';
import { problems } from '../../../interface/problem.ts';
import { grants, type Scope } from '../../../interface/scopes.ts';
import type { Refusal } from '../../contract/problem.ts';
import type { ApiResponse } from '../../contract/response.ts';
import { type Environment, send } from '../../http/context.ts';
import { safeText } from '../../platform/safe-text.ts';
import type { Bearer } from '../../tokens/tokens.ts';
import { navigationLinks } from '../elements/list.ts';
import { ownLocksAddress } from '../elements/lock-list.ts';
import { type Markup, userText } from '../elements/text.ts';
import { assetPath } from './assets.ts';
import type { PageCall } from './page.ts';
import { pageHeaders } from './response.ts';

/** Current entry of the navigation. */
export type PageLocation =
  | { readonly section: 'workspaces' }
  | { readonly section: 'workspaces'; readonly workspace: string; readonly tab: Tab }
  | { readonly section: 'my-locks' | 'tokens' | 'trust' | 'audit' | 'none' };

type Tab = 'locks' | 'branches' | 'syncs' | 'hooks' | 'settings';

export const inWorkspace = (workspace: string, tab: Tab): PageLocation => ({ section: 'workspaces', workspace, tab });

export interface View {
  /** The heading, and part of the window's title. */
  readonly title: string;
  readonly location: PageLocation;
  /** Shown next to the heading. */
  readonly actions?: Markup | string;
  readonly main: Markup;
  /** In addition to the script of every page. */
  readonly script?: string;
}

/** Error page: the message, and the request id to find it in the log. */
export async function sendErrorPage(c: Context<Environment>, refusal: Refusal): Promise<Response> {
  const { status, title } = problems[refusal.problem];
  // Both are unset if the error came before the session was found.
  const session: ContextVariableMap['session'] | undefined = c.get('session');
  const bearer: Environment['Variables']['bearer'] | undefined = c.get('bearer');
  const call = session === undefined || bearer === undefined ? undefined : { c, bearer, now: session.now };
  const view: View = {
    title,
    location: { section: 'none' },
    main: html`<p>${safeText(refusal.message)}</p>
      <p class="faint">Request <code>${c.get('requestId')}</code></p>
      <p><a href="/">${call === undefined ? 'Sign in' : 'Go to the workspaces'}</a></p>`,
  };
  const page = await showPage(call, view, status);
  return send(c, { ...page, headers: { ...refusal.extras.headers, ...page.headers } });
}

/** A complete page. Without `call`, nobody is signed in. */
export async function showPage(
  call: PageCall | undefined,
  { title, location, actions = '', main, script }: View,
  status = 200,
): Promise<ApiResponse> {
  const inWorkspace =
    call !== undefined && 'workspace' in location
      ? workspaceNavigation(location.workspace, location.tab, call.bearer)
      : '';
  const style = (name: string) => html`<link rel="stylesheet" href="${assetPath(name)}">`;
  const module = (name: string) => html`<script type="module" src="${assetPath(name)}"></script>`;
  const page = await html`<!doctype html>
<html lang="en" data-now="${call?.now ?? Date.now()}">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>${safeText(title)}${'workspace' in location ? ` · ${location.workspace}` : ''} · Workspaces</title>
  ${['style.css', 'elements.css', ...stylesOf(location)].map(style)}
  <link rel="icon" href="${assetPath('icon.svg')}">
  ${['page.js', ...(script === undefined ? [] : [script])].map(module)}
</head>
<body>
  <a class="skip" href="#main">Skip to the content</a>
  <header class="top">
    <a class="brand" href="/"><img src="${assetPath('icon.svg')}" alt="" width="20" height="20">Workspace service</a>
    ${call === undefined ? '' : [mainNavigation(location, call.bearer), signedIn(call)]}
  </header>
  ${inWorkspace}
  <main id="main" tabindex="-1">
    <div class="heading"><h1>${userText(title)}</h1>${actions === '' ? '' : html`<div class="actions">${actions}</div>`}</div>
    ${main}
  </main>
</body>
</html>`;
  return { status, headers: pageHeaders, body: String(page) };
}

interface TabLink {
  readonly text: string;
  readonly path: string;
  readonly needs?: Scope;
  /** In addition to the stylesheets of every page. */
  readonly styles: readonly string[];
}

const tabs: Readonly<Record<Tab, TabLink>> = {
  locks: { text: 'Locks', path: '/locks', needs: 'locks:read', styles: ['locks.css'] },
  branches: { text: 'Branches', path: '/branches', styles: ['syncs.css'] },
  syncs: { text: 'Syncs', path: '/syncs', needs: 'sync', styles: ['syncs.css'] },
  hooks: { text: 'Webhooks', path: '/hooks', needs: 'hooks:write', styles: ['hooks.css'] },
  settings: { text: 'Settings', path: '/settings', needs: 'admin', styles: [] },
};

/** Links only to pages that the token may see. */
function workspaceNavigation(workspace: string, current: Tab, { scopes }: Bearer): Markup {
  const links = Object.entries(tabs)
    .filter(([, { needs }]) => needs === undefined || grants(scopes, needs))
    .map(([tab, { text, path }]) => ({ href: `/workspaces/${workspace}${path}`, text, current: tab === current }));
  return html`<nav class="tabs" aria-label="Workspace ${workspace}">
    <p class="tabs-title">${userText(workspace)}</p>
    ${navigationLinks(links)}
  </nav>`;
}

function mainNavigation({ section }: PageLocation, { scopes }: Bearer): Markup {
  const workspaces = { href: '/', text: 'Workspaces', current: section === 'workspaces' };
  const myLocks = { href: ownLocksAddress, text: 'My locks', current: section === 'my-locks' };
  const tokens = { href: '/tokens', text: 'Tokens', current: section === 'tokens' };
  const trust = { href: '/trust', text: 'Trust', current: section === 'trust' };
  const audit = { href: '/audit', text: 'Audit', current: section === 'audit' };
  const links = [
    workspaces,
    ...(grants(scopes, 'locks:read') ? [myLocks] : []),
    ...(grants(scopes, 'admin') ? [tokens, trust, audit] : []),
  ];
  return html`<nav aria-label="Main">${navigationLinks(links)}</nav>`;
}

const signedIn = (call: PageCall): Markup => html`<div class="who">
    <span><span class="as">Signed in as </span>${userText(call.bearer.name)}</span>
    <form method="post" action="/sign-out"><button class="quiet">Sign out</button></form>
  </div>`;

/** In addition to the stylesheets of every page. */
function stylesOf(location: PageLocation): readonly string[] {
  if ('tab' in location) return tabs[location.tab].styles;
  if (location.section === 'my-locks') return ['locks.css'];
  return location.section === 'workspaces' ? ['syncs.css', 'locks.css'] : [];
}
