import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import type { ApiResponse } from '../../contract/response.ts';
import type { Access, AccessControl } from '../../http/access.ts';
import { type App, bearerOf, type Environment, send } from '../../http/context.ts';
import { readQuery } from '../../http/urlencoded.ts';
import { type KeyedRequest, keyedRequest } from '../../idempotency/keyed-request.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Bearer } from '../../tokens/tokens.ts';
import { addressedWorkspace } from '../../workspaces/addressed-workspace.ts';
import type { FoundWorkspace } from '../../workspaces/workspaces.ts';
import { type Form, formIdOf, readForm } from './form.ts';
import { requireSameSite, requireSession } from './session.ts';

export interface PageRoute {
  /** Parameters are written as `:name`. */
  readonly path: `/${string}`;
  readonly access: Exclude<Access, 'anyone'>;
}

export interface PageCall {
  readonly c: Context<Environment>;
  readonly bearer: Bearer;
  /** Time of the database in milliseconds. */
  readonly now: number;
}

/** Adds a page for sessions whose token has the scope. */
export function addPage(
  app: App,
  control: AccessControl,
  { path, access }: PageRoute,
  show: (call: PageCall) => Promise<ApiResponse>,
): void {
  app.get(path, requireSession(control, access), async (c) => send(c, await show(callOf(c))));
}

export interface ActionRoute extends PageRoute {
  /** For forms with a checkbox in each row of a table. */
  readonly maxFields?: number;
}

export interface ActionCall extends PageCall {
  readonly form: Form;
}

/** Adds the action of a form, which must come from a page of this service. Headers are checked first. */
export function addAction(
  app: App,
  control: AccessControl,
  { path, access, maxFields }: ActionRoute,
  act: (call: ActionCall) => Promise<ApiResponse>,
): void {
  app.post(path, requireSameSite, requireSession(control, access), async (c) =>
    send(c, await act({ ...callOf(c), form: await readForm(c.env.incoming, maxFields) })),
  );
}

/** The query parameters with these names; empty if missing. */
export function queryOf<Name extends string>(
  { c }: Pick<PageCall, 'c'>,
  ...names: readonly Name[]
): Readonly<Record<Name, string>> {
  const given = readQuery(c.env.incoming.url ?? '', names);
  // The cast is safe: the object has exactly these names.
  return Object.fromEntries(names.map((name) => [name, given[name] ?? ''])) as Record<Name, string>;
}

export const requestedWorkspace = ({ c }: PageCall, storage: Storage): Promise<FoundWorkspace> =>
  addressedWorkspace(c, storage);

/** Idempotency key of a form with this content, so that sending it again, such as by a reload, changes nothing. */
export function keyOfForm(call: ActionCall, entered: unknown): KeyedRequest | undefined {
  const content = JSON.stringify([formIdOf(call), entered]);
  return keyedRequest({
    tokenId: call.bearer.id,
    key: `form-${createHash('sha256').update(content).digest('hex')}`,
    method: 'POST',
    path: call.c.req.path,
    ifMatch: undefined,
    body: '',
  });
}

export const callOf = (c: Context<Environment>): PageCall => ({ c, bearer: bearerOf(c), now: c.get('session').now });
