import { type Context, Hono } from 'hono';
import { byBearerOrPassword } from '../access/access.ts';
import { bearerOf } from '../access/caller.ts';
import { type ApiResponse, Refusal } from '../contract/response.ts';
import { grants } from '../contract/scopes.ts';
import { readOptionalBody } from '../http/body.ts';
import type { App, Environment } from '../http/context.ts';
import { hostOrigin } from '../http/request-target.ts';
import { lfsEndpoint } from '../workspaces/settings.ts';
import type { FoundWorkspace } from '../workspaces/workspaces.ts';
import { addDownloadRoute, comeBack, type DownloadRoutes } from './download.ts';
import { addLfsLockRoutes, type LfsLockRoutes } from './locks.ts';
import type { ObjectStore } from './object-store.ts';
import { batchSchema, type DownloadBatch } from './requests.ts';
import { addRoute, basePath, lfsError, lfsResponse } from './responses.ts';
import { urlLifetimeSeconds } from './signed-url.ts';

export interface LfsParts extends LfsLockRoutes, DownloadRoutes {
  readonly storage: LfsLockRoutes['storage'];
  readonly publicUrl: () => string | undefined;
}

/**
 * A Git LFS endpoint for each workspace: Git LFS users lock with their own tools, and their locks also apply to jobs.
 * Separate from the API because its clients do not read problem details: see responses.ts for the format of its errors.
 */
export function createLfs(parts: LfsParts): App {
  const app: App = new Hono();
  const routes: LfsParts = { ...parts, authScheme: byBearerOrPassword };
  addLfsLockRoutes(app, routes);
  addRoute(app, routes, {
    method: 'POST',
    path: '/objects/batch',
    access: 'any-token',
    async handle(c, workspace) {
      const batch = await readOptionalBody(c, batchSchema);
      if (batch.operation === 'upload') return sendToStore(workspace);
      const refuse = (status: number, message: string): ApiResponse => lfsError(status, message, c.get('requestId'));
      if (batch.hash_algo !== 'sha256') return refuse(409, 'The only supported hash_algo is sha256.');
      if (batch.objects.length > maxObjects) return refuse(413, `Request at most ${maxObjects} objects at a time.`);
      return (await offerFromMirror(c, routes, workspace, batch)) ?? sendToStore(workspace);
    },
  });
  addDownloadRoute(app, routes);
  return app;
}

/** Scope for downloads from the mirror. Other tokens are redirected to the store, which checks access itself. */
const mirrorScope = 'contents:read';

/** Clients request a hundred objects at a time. */
const maxObjects = 1_000;

/** Undefined if the client must ask the store for all objects: it asks one server for a batch. */
async function offerFromMirror(
  c: Context<Environment>,
  { publicUrl, objectsOf, pullThrough, urlSigner }: LfsParts,
  workspace: FoundWorkspace,
  { objects, transfers }: DownloadBatch,
): Promise<ApiResponse | undefined> {
  const origin = publicUrl() ?? hostOrigin(c.env.incoming);
  if (origin === undefined || !transfers.includes('basic') || !grants(bearerOf(c).scopes, mirrorScope)) {
    return undefined;
  }
  const store = objectsOf(workspace.id);
  const find = () => findObjects(store, objects);
  const isAll = (found: ReadonlySet<string>): boolean => objects.every(({ oid }) => found.has(oid));
  let inMirror = await find();
  if (!isAll(inMirror)) {
    const pending = await pullThrough.objects(workspace, async () => isAll(await find()));
    if (pending !== undefined) throw comeBack(pending);
    inMirror = await find();
  }
  if (inMirror.size === 0) return undefined;
  if (!isAll(inMirror) && lfsEndpoint(workspace) !== undefined) return undefined;
  const responses = objects.map((object) => {
    // Without a store to redirect to, the client gets the objects of the mirror and an error for each other object.
    if (!inMirror.has(object.oid)) {
      return { ...object, error: { code: 404, message: `The mirror lacks it. ${unknownStore(workspace)}` } };
    }
    const { text, expiresAt } = urlSigner.sign(workspace.id, object);
    const href = `${origin}${basePath.replace(':id', workspace.id)}/objects/${object.oid}?${text}`;
    const download = { href, expires_in: urlLifetimeSeconds, expires_at: expiresAt.toISOString() };
    return { ...object, authenticated: true, actions: { download } };
  });
  return lfsResponse(200, { transfer: 'basic', objects: responses, hash_algo: 'sha256' });
}

async function findObjects(
  store: Pick<ObjectStore, 'use'>,
  requested: DownloadBatch['objects'],
): Promise<ReadonlySet<string>> {
  const found = await Promise.all(requested.map(async (object) => ((await store.use(object)) ? [object.oid] : [])));
  return new Set(found.flat());
}

/** Redirects clients to the store of the repository, where they authenticate themselves. */
function sendToStore(workspace: FoundWorkspace): ApiResponse {
  const store = lfsEndpoint(workspace);
  if (store === undefined) throw new Refusal('invalid-request', unknownStore(workspace));
  // RFC 9110 section 15.4.8: the client repeats the request, with its body, at the other URL.
  const response = lfsResponse(307, { message: `The LFS objects of ${workspace.id} are at ${store}.` });
  return { ...response, headers: { ...response.headers, location: `${store}/objects/batch` } };
}

const unknownStore = ({ id }: FoundWorkspace): string =>
  `The URL of the LFS objects of ${id} is unknown, because its remote does not use http(s). Ask the operator to set it: workspace-service workspace update ${id} --lfs-url https://…`;
