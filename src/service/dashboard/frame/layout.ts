import type { Context, ContextVariableMap } from 'hono';
import { html } from 'hono/html';
import { problems } from '../../../interface/problem.ts';
import { grants, type Scope } from '../../../interface/scopes.ts';
import type { Answer } from '../../contract/answer.ts';
import type { Refusal } from '../../contract/problem.ts';
import { type Environment, send } from '../../http/context.ts';
import type { Bearer } from '../../tokens/tokens.ts';
import { safeText } from '../assets/text.js';
import { type Markup, userText } from '../elements/text.ts';
import { pageHeaders } from './answer.ts';
import { assetPath } from './assets.ts';
import { formField } from './form.ts';
import type { PageCall } from './page.ts';

/** What the navigation marks as current. */
export type PageLocation =
  | { readonly section: 'workspaces' }
  | { readonly section: 'workspaces'; readonly workspace: string; readonly tab: Tab }
  | { readonly section: 'tokens' | 'audit' }
  | { readonly section: 'none' };

export type Tab = 'branches' | 'locks' | 'syncs' | 'hooks';

export const inWorkspace = (workspace: string, tab: Tab): PageLocation => ({ section: 'workspaces', workspace, tab });

export interface View {
  /** The heading, and part of the window's title. */
  readonly title: string;
  readonly location: PageLocation;
  readonly main: Markup;
  /** In addition to those of every page. */
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

/** Only what the token may see: a link to a refusal helps nobody. */
function workspaceNavigation(workspace: string, current: Tab, { scopes }: Bearer): Markup {
  const shown = tabs.filter(({ needs }) => needs === undefined || grants(scopes, needs));
  const links = shown.map(({ tab, text, path }) =>
    link({ href: `/workspaces/${workspace}${path}`, text, current: tab === current }),
  );
  return html`<nav class="tabs" aria-label="Workspace ${workspace}">
    <p class="tabs-title">${userText(workspace)}</p>
    <ul>${links}</ul>
  </nav>`;
}

function mainNavigation({ section }: PageLocation, { scopes }: Bearer): Markup {
  const links: Link[] = [{ href: '/', text: 'Workspaces', current: section === 'workspaces' }];
  if (grants(scopes, 'admin')) {
    links.push({ href: '/tokens', text: 'Tokens', current: section === 'tokens' });
    links.push({ href: '/audit', text: 'Audit', current: section === 'audit' });
  }
  return html`<nav aria-label="Main"><ul>${links.map(link)}</ul></nav>`;
}

const signedIn = (call: PageCall): Markup => html`<div class="who">
    <span>Signed in as ${userText(call.bearer.name)}</span>
    <form method="post" action="/sign-out">${formField(call)}<button class="quiet">Sign out</button></form>
  </div>`;

/** Everything around the content. Without `call` nobody is signed in. */
async function pageOf(
  { title, location, main, scripts = [], styles = [] }: View,
  call: PageCall | undefined,
): Promise<string> {
  const inWorkspace =
    call !== undefined && 'workspace' in location
      ? workspaceNavigation(location.workspace, location.tab, call.bearer)
      : '';
  const style = (name: string) => html`<link rel="stylesheet" href="${assetPath(name)}">`;
  const script = (name: string) => html`<script type="module" src="${assetPath(name)}"></script>`;
  const page = await html`<!doctype html>
<html lang="en" data-now="${call?.now ?? Date.now()}">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>${title} · Workspaces</title>
  ${['style.css', 'elements.css', ...styles].map(style)}
  <link rel="icon" href="${assetPath('icon.svg')}">
  ${['page.js', ...scripts].map(script)}
</head>
<body>
  <a class="skip" href="#main">Skip to the content</a>
  <header class="top">
    <a class="brand" href="/"><img src="${assetPath('icon.svg')}" alt="" width="20" height="20">Workspace service</a>
    ${call === undefined ? '' : [mainNavigation(location, call.bearer), signedIn(call)]}
  </header>
  ${inWorkspace}
  <main id="main" tabindex="-1">
    <h1>${userText(title)}</h1>
    ${main}
  </main>
</body>
</html>`;
  return String(page);
}

export async function showPage(call: PageCall, view: View, status = 200): Promise<Answer> {
  return { status, headers: pageHeaders, body: await pageOf(view, call) };
}

/** For visitors who are not signed in. */
export async function showOpenPage(view: View, status = 200): Promise<Answer> {
  return { status, headers: pageHeaders, body: await pageOf(view, undefined) };
}

/** What a problem is to the API: what went wrong, and the request id for the log. */
export async function sendErrorPage(c: Context<Environment>, refusal: Refusal): Promise<Response> {
  const { status, title } = problems[refusal.problem];
  const view: View = {
    title,
    location: { section: 'none' },
    main: html`<p>${safeText(refusal.message)}</p>
      <p><a href="/">Go to the workspaces</a></p>
      <p class="faint">Request <code>${c.get('requestId')}</code></p>`,
  };
  // Both are set once the session has been found.
  const session: ContextVariableMap['session'] | undefined = c.get('session');
  const bearer: Environment['Variables']['bearer'] | undefined = c.get('bearer');
  const page =
    session === undefined || bearer === undefined
      ? await showOpenPage(view, status)
      : await showPage({ c, bearer, now: session.now }, view, status);
  return send(c, { ...page, headers: { ...refusal.extras.headers, ...page.headers } });
}
