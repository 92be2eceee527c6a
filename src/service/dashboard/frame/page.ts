import type { Context } from 'hono';
import { html } from 'hono/html';
import { problems } from '../../../interface/problem.ts';
import type { Access } from '../../access/access.ts';
import { bearerOf, requestedWorkspace } from '../../access/caller.ts';
import type { ApiParts } from '../../api/operation.ts';
import { Refusal } from '../../contract/response.ts';
import { type App, type Environment, send } from '../../http/context.ts';
import { readQuery } from '../../http/request-target.ts';
import type { FoundWorkspace } from '../../workspaces/workspaces.ts';
import { type Markup, userText } from '../elements/markup.ts';
import { readForm } from './form.ts';
import { type PageCall, seeOther, showPage, type View } from './layout.ts';
import { requireSameSite, requireSession } from './session.ts';

export interface Site extends ApiParts {
  readonly app: App;
}

export type WorkspaceCall = PageCall & { readonly workspace: FoundWorkspace };

type Needed = Exclude<Access, 'anyone'>;

export type PageResult = View | Continuation | Response;

interface Continuation {
  readonly to: string;
  readonly notice?: Notice | undefined;
  readonly cookie?: string;
}

type Show<Call> = (call: Call) => Promise<PageResult>;

/** Adds a page for sessions whose token has the scope. Path parameters are written as `:name`. */
export function addPage(site: Site, path: string, needed: Needed, show: Show<PageCall>): void {
  site.app.get(path, requireSession(site, needed), async (c) => {
    const call = callOf(c);
    return respond(call, await show(call));
  });
}

/** Adds a page about a workspace that the token may see. The path is relative to the URL of the workspace. */
export const addWorkspacePage = (site: Site, path: string, needed: Needed, show: Show<WorkspaceCall>): void =>
  addPage(site, `/workspaces/:id${path}`, needed, inWorkspace(site, show));

/**
 * Adds the action of a form, which must come from a page of this service. Its headers are checked first. If the action
 * is refused, `page` shows the form again, below the reason.
 */
export function addAction(
  site: Site,
  path: string,
  needed: Needed,
  page: Show<PageCall> | undefined,
  act: Show<PageCall>,
): void {
  site.app.post(path, requireSameSite, requireSession(site, needed), async (c) => {
    const call = callOf(c, await readForm(c.env.incoming));
    try {
      return await respond(call, await act(call));
    } catch (refusal) {
      if (page === undefined || !(refusal instanceof Refusal)) throw refusal;
      const shown = await page({ ...call, refusal });
      const reason = { problem: `Nothing was changed. ${refusal.message}`, status: problems[refusal.problem].status };
      return respond(call, 'main' in shown ? { ...shown, ...reason } : shown);
    }
  });
}

export const addWorkspaceAction = (
  site: Site,
  path: string,
  needed: Needed,
  page: Show<WorkspaceCall>,
  act: Show<WorkspaceCall>,
): void => addAction(site, `/workspaces/:id${path}`, needed, inWorkspace(site, page), inWorkspace(site, act));

const inWorkspace =
  ({ storage }: Site, show: Show<WorkspaceCall>): Show<PageCall> =>
  async (call) =>
    show({ ...call, workspace: await requestedWorkspace(call.c, storage) });

/** The query parameters with these names; empty if missing. */
export function queryOf<Name extends string>(
  { c }: Pick<PageCall, 'c'>,
  ...names: readonly Name[]
): Readonly<Record<Name, string>> {
  const given = readQuery(c.env.incoming.url ?? '', names);
  // The cast is safe: the object has exactly these names.
  return Object.fromEntries(names.map((name) => [name, given[name] ?? ''])) as Record<Name, string>;
}

function callOf(c: Context<Environment>, form = new URLSearchParams()): PageCall {
  return { c, bearer: bearerOf(c), now: c.get('session').now, form };
}

async function respond(call: PageCall, result: PageResult): Promise<Response> {
  if (result instanceof Response) return result;
  if ('main' in result) return send(call.c, await showPage(call, { notice: noticeOf(call, result.title), ...result }));
  const { to, notice, cookie } = result;
  const location = notice === undefined ? to : `${to}${to.includes('?') ? '&' : '?'}notice=${notice}`;
  return send(call.c, seeOther(location, cookie === undefined ? {} : { 'set-cookie': cookie }));
}

/** Results of actions, by the name in the URL that the browser continues with. `path` is the title of that page. */
const notices = {
  'signed-out': () => 'You have signed out.',
  'session-ended': () => 'Your session has ended, so nothing was changed. Sign in again.',
  'session-revoked': () => 'The token you signed in with was revoked, so your session has ended.',

  taken: (path: string) => html`You hold the lock on ${userText(path)}.`,
  held: () => 'Nothing was locked: this lock is already held.',
  extended: (path: string) => html`The lock on ${userText(path)} was extended.`,
  released: () => 'The selected locks were released.',
  'released-some': () => 'The selected locks were released. Some had already ended.',
  ended: () => 'Nothing was released: the selected locks were already released, or have expired.',
  unselected: () => 'No lock is selected. Check the boxes of the locks that you want to release.',
  unrotated: () => 'Nothing was changed: the token was already rotated, or has ended.',
} as const;

export type Notice = keyof typeof notices;

export const noticeOf = (call: Pick<PageCall, 'c'>, title: string): Markup | string | undefined =>
  texts.get(queryOf(call, 'notice').notice)?.(title);

const texts: ReadonlyMap<string, (title: string) => Markup | string> = new Map(Object.entries(notices));
