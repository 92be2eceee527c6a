import type { Context, ContextVariableMap } from 'hono';
import { html } from 'hono/html';
import { problems } from '../../../interface/problem.ts';
import { safeText } from '../../../interface/safe-text.ts';
import type { ApiResponse, Refusal } from '../../contract/response.ts';
import { grants, type Scope } from '../../contract/scopes.ts';
import { type Environment, send } from '../../http/context.ts';
import type { Bearer } from '../../tokens/tokens.ts';
import type { SentForm } from '../elements/fields.ts';
import { type Markup, userText } from '../elements/markup.ts';
import { assetPath } from './assets.ts';

interface Viewer {
  readonly c: Context<Environment>;
  readonly bearer: Bearer;
  /** Time of the database in milliseconds. */
  readonly now: number;
}

export type PageCall = Viewer & SentForm;

export interface View {
  /** The heading, and part of the window's title. */
  readonly title: string;
  /** Shown next to the heading. */
  readonly actions?: Markup | string;
  /** The result of an action. Default: the notice in the URL. */
  readonly notice?: Markup | string | undefined;
  /** Why a form was refused. */
  readonly problem?: string;
  readonly main: Markup;
  readonly status?: number;
}

/** Error page: the message, and the request id to find it in the log. */
export async function sendErrorPage(c: Context<Environment>, refusal: Refusal): Promise<Response> {
  const { status, title } = problems[refusal.problem];
  // Both are unset if the error occurred before the session was found.
  const session: ContextVariableMap['session'] | undefined = c.get('session');
  const bearer: Bearer | undefined = c.get('bearer');
  const call = session === undefined || bearer === undefined ? undefined : { c, bearer, now: session.now };
  const view: View = {
    title,
    status,
    main: html`<p>${safeText(refusal.message)}</p>
      <p class="faint">Request <code>${c.get('requestId')}</code></p>
      <p><a href="/">${call === undefined ? 'Sign in' : 'Go to the workspaces'}</a></p>`,
  };
  const page = await showPage(call, view, {});
  return send(c, { ...page, headers: { ...refusal.extras.headers, ...page.headers } });
}

/** A complete page. Without `call`, nobody is signed in. */
export async function showPage(
  call: Viewer | undefined,
  { title, actions = '', notice, problem, main, status = 200 }: View,
  { section, workspace, tab }: PageLocation = call === undefined ? {} : locationOf(call),
): Promise<ApiResponse> {
  const page = await html`<!doctype html>
<html lang="en"${call === undefined ? '' : html` data-now="${call.now}"`}>
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>${safeText(title)}${workspace === undefined ? '' : ` · ${workspace}`} · Workspaces</title>
  <link rel="stylesheet" href="${assetPath('style.css')}">
  <link rel="icon" href="${assetPath('icon.svg')}">
  <script type="module" src="${assetPath('page.js')}"></script>
</head>
<body>
  <a class="visually-hidden" href="#main">Skip to the content</a>
  <header class="row bar">
    <a href="/"><img src="${assetPath('icon.svg')}" alt="" width="20" height="20"><strong>Workspace service</strong></a>
    ${call === undefined ? '' : [html`<nav aria-label="Main">${linksTo(sections, '/', section, call.bearer)}</nav>`, signOutForm(call.bearer)]}
  </header>
  ${call === undefined || workspace === undefined ? '' : workspaceNavigation(workspace, tab, call.bearer)}
  <main id="main" tabindex="-1">
    <div class="row heading"><h1>${userText(title)}</h1>${actions === '' ? '' : html`<div class="row">${actions}</div>`}</div>
    ${notice === undefined ? '' : html`<p class="notice" role="status">${notice}</p>`}
    ${problem === undefined ? '' : html`<p class="warning" role="alert">${safeText(problem)}</p>`}
    ${main}
  </main>
</body>
</html>`;
  return { status, headers: pageHeaders, body: String(page) };
}

interface Entry {
  readonly text: string;
  readonly path: string;
  readonly needs?: Scope;
  /** Other paths that belong to this entry. */
  readonly also?: readonly string[];
}

const sections: readonly Entry[] = [
  { text: 'Workspaces', path: '', also: ['workspaces'] },
  { text: 'My locks', path: 'my-locks', needs: 'locks:read' },
  { text: 'Tokens', path: 'tokens', needs: 'admin' },
];

const tabs: readonly Entry[] = [
  { text: 'Locks', path: 'locks', needs: 'locks:read', also: ['paths', 'pools'] },
  { text: 'Syncs', path: 'syncs', needs: 'sync' },
  { text: 'Webhooks', path: 'hooks', needs: 'hooks:write' },
];

/** The current entries of the navigation. */
interface PageLocation {
  readonly section?: Entry | undefined;
  readonly workspace?: string | undefined;
  readonly tab?: Entry | undefined;
}

function locationOf({ c }: Viewer): PageLocation {
  const [, first = '', , third = ''] = c.req.path.split('/');
  const find = (entries: readonly Entry[], name: string) =>
    entries.find(({ path, also = [] }) => path === name || also.includes(name));
  return { section: find(sections, first), workspace: c.req.param('id'), tab: find(tabs, third) };
}

const workspaceNavigation = (workspace: string, current: Entry | undefined, bearer: Bearer): Markup =>
  html`<nav class="row bar" aria-label="Workspace ${workspace}">
    <strong>${userText(workspace)}</strong>
    ${linksTo(tabs, `/workspaces/${workspace}/`, current, bearer)}
  </nav>`;

/** Links only to pages that the token may see. */
const linksTo = (entries: readonly Entry[], base: string, current: Entry | undefined, { scopes }: Bearer): Markup =>
  html`<ul>${entries
    .filter(({ needs }) => needs === undefined || grants(scopes, needs))
    .map(
      (entry) =>
        html`<li><a href="${base + entry.path}"${entry === current ? html` aria-current="page"` : ''}>${entry.text}</a></li>`,
    )}</ul>`;

const signOutForm = ({ name }: Bearer): Markup =>
  html`<form class="row who" method="post" action="/sign-out">
    <span>Signed in as ${userText(name)}</span><button>Sign out</button>
  </form>`;

/** Pages load everything from this origin, contain no inline scripts or styles, and never turn text into markup. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "base-uri 'none'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "img-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // With `no-referrer`, browsers would send forms with the Origin "null". Other sites receive no referrer.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
} as const;

/** Response to a form: the browser continues with GET, so that a reload does not submit the form again. */
export const seeOther = (location: string, headers: Readonly<Record<string, string>> = {}): ApiResponse => ({
  status: 303,
  headers: { ...headers, location },
  body: '',
});

const apiPaths = /^\/(?:v1|healthz|readyz|metrics)(?:\/|$)/;

/** Whether the request is from a browser that shows a page, not from a program. */
export const wantsPage = (c: Context<Environment>): boolean =>
  !apiPaths.test(c.req.path) && (c.req.header('accept') ?? '').includes('text/html');
