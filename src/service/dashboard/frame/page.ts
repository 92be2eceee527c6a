import type { Context } from 'hono';
import type { Logger } from 'pino';
import type { Access, AccessControl } from '../../access/access.ts';
import { bearerOf, requestedWorkspace } from '../../access/caller.ts';
import type { ApiParts } from '../../api/operation.ts';
import type { ApiResponse } from '../../contract/response.ts';
import { type App, type Environment, send } from '../../http/context.ts';
import { readQuery } from '../../http/request-target.ts';
import type { FreeDisk } from '../../runtime/free-disk.ts';
import type { Bearer } from '../../tokens/tokens.ts';
import type { FindInMirror } from '../../workspaces/find-in-mirror.ts';
import type { FoundWorkspace } from '../../workspaces/workspaces.ts';
import type { Markup } from '../elements/text.ts';
import { type Form, readForm } from './form.ts';
import { type Notice, noticeText, withNotice } from './notices.ts';
import { seeOther } from './response.ts';
import { requireSameSite, requireSession } from './session.ts';

export interface DashboardParts extends AccessControl, Pick<ApiParts, 'idempotent' | 'locks' | 'publicUrl'> {
  readonly log: Logger;
  readonly freeDisk: Pick<FreeDisk, 'isLow' | 'reserve'>;
  readonly findInMirror: FindInMirror;
}

/** The dashboard, to which pages are added. */
export interface Site extends DashboardParts {
  readonly app: App;
  /** A complete page. Without a call, nobody is signed in. */
  readonly showPage: (call: PageCall | undefined, view: View) => Promise<ApiResponse>;
}

export interface PageCall {
  readonly c: Context<Environment>;
  readonly bearer: Bearer;
  /** Time of the database in milliseconds. */
  readonly now: number;
}

export interface View {
  /** The heading, and part of the window's title. */
  readonly title: string;
  /** Shown next to the heading. */
  readonly actions?: Markup | string;
  /** The result of an action; by default the one in the URL. */
  readonly notice?: Markup | string | undefined;
  readonly main: Markup;
  readonly status?: number;
}

interface PageRoute {
  /** Parameters are written as `:name`. */
  readonly path: `/${string}`;
  readonly access: Exclude<Access, 'anyone'>;
  /** For forms with a checkbox in each row of a table. */
  readonly maxFields?: number;
}

/** The path continues the URL of a workspace. */
type WorkspaceRoute = Omit<PageRoute, 'path'> & { readonly path: `/${string}` | '' };

/** A page, the URL of the page to continue with, or another response. */
type PageResult = View | Continuation | ApiResponse | Response;

interface Continuation {
  readonly to: string;
  readonly notice?: Notice;
  readonly cookie?: string;
}

export interface WorkspaceCall extends PageCall {
  readonly workspace: FoundWorkspace;
}

/** What a page needs at least. */
type PageSite = AccessControl & Pick<Site, 'app' | 'showPage'>;

/** Adds a page for sessions whose token has the scope. */
export function addPage(site: PageSite, route: PageRoute, show: (call: PageCall) => Promise<PageResult>): void {
  site.app.get(route.path, requireSession(site, route.access), async (c) => {
    const call = callOf(c);
    return respond(site, call, await show(call));
  });
}

/** Adds a page about a workspace that the token may see. */
export const addWorkspacePage = (
  site: PageSite,
  route: WorkspaceRoute,
  show: (call: WorkspaceCall) => Promise<PageResult>,
): void => addPage(site, inWorkspace(route), async (call) => show(await withWorkspace(site, call)));

interface ActionCall extends PageCall {
  readonly form: Form;
}

type WorkspaceActionCall = WorkspaceCall & ActionCall;

/** Adds the action of a form, which must come from a page of this service. Headers are checked first. */
export function addAction(site: PageSite, route: PageRoute, act: (call: ActionCall) => Promise<PageResult>): void {
  site.app.post(route.path, requireSameSite, requireSession(site, route.access), async (c) => {
    const call = { ...callOf(c), form: await readForm(c.env.incoming, route.maxFields) };
    return respond(site, call, await act(call));
  });
}

export const addWorkspaceAction = (
  site: PageSite,
  route: WorkspaceRoute,
  act: (call: WorkspaceActionCall) => Promise<PageResult>,
): void => addAction(site, inWorkspace(route), async (call) => act(await withWorkspace(site, call)));

const inWorkspace = (route: WorkspaceRoute): PageRoute => ({ ...route, path: `/workspaces/:id${route.path}` });

const withWorkspace = async <Call extends PageCall>({ storage }: PageSite, call: Call) => ({
  ...call,
  workspace: await requestedWorkspace(call.c, storage),
});

/** The query parameters with these names; empty if missing. */
export function queryOf<Name extends string>(
  { c }: Pick<PageCall, 'c'>,
  ...names: readonly Name[]
): Readonly<Record<Name, string>> {
  const given = readQuery(c.env.incoming.url ?? '', names);
  // The cast is safe: the object has exactly these names.
  return Object.fromEntries(names.map((name) => [name, given[name] ?? ''])) as Record<Name, string>;
}

const callOf = (c: Context<Environment>): PageCall => ({ c, bearer: bearerOf(c), now: c.get('session').now });

async function respond({ showPage }: PageSite, call: PageCall, result: PageResult): Promise<Response> {
  if (result instanceof Response) return result;
  if ('main' in result) {
    return send(
      call.c,
      await showPage(call, { notice: noticeText(queryOf(call, 'notice').notice, result.title), ...result }),
    );
  }
  if ('body' in result) return send(call.c, result);
  const { to, notice, cookie } = result;
  const headers = cookie === undefined ? {} : { 'set-cookie': cookie };
  return send(call.c, seeOther(notice === undefined ? to : withNotice(to, notice), headers));
}
