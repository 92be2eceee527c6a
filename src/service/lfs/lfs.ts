import { type Context, Hono } from 'hono';
import { byBearerOrPassword } from '../access/access.ts';
import { bearerOf } from '../access/caller.ts';
import type { ApiParts } from '../api/operation.ts';
import { type ApiResponse, Refusal } from '../contract/response.ts';
import { grants } from '../contract/scopes.ts';
import { readOptionalBody } from '../http/body.ts';
import { type App, type Environment, responseHeaders, send } from '../http/context.ts';
import { hostOrigin, readQuery } from '../http/request-target.ts';
import { type FileResponse, parseByteRange, sendFile } from '../http/send-output.ts';
import type { PullThrough } from '../mirror/pull-through.ts';
import { subscriberOf } from '../platform/ip-address.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import { lfsEndpoint } from '../workspaces/settings.ts';
import { type FoundWorkspace, findWorkspace } from '../workspaces/workspaces.ts';
import { addLfsLockRoutes } from './locks.ts';
import type { ObjectStore, StoredObject, StoreOwner } from './object-store.ts';
import { type ObjectName, parseOid } from './pointer.ts';
import { batchSchema, type DownloadBatch } from './requests.ts';
import { addRoute, basePath, lfsError, lfsResponse } from './responses.ts';
import { signedNames, type UrlSigner, urlLifetimeSeconds } from './signed-url.ts';

export interface LfsParts extends ApiParts {
  readonly objectsOf: (workspace: StoreOwner) => Pick<ObjectStore, 'use'>;
  readonly pullThrough: Pick<PullThrough, 'objects'>;
  readonly urlSigner: UrlSigner;
}

/**
 * A Git LFS endpoint for each workspace. Git LFS users lock with their own tools, and their locks apply to jobs, too.
 * Separate from the API, because its clients do not read problem details: see responses.ts for its errors.
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

/** Scope for downloads from the mirror. Tokens without it are redirected to the store, which checks access itself. */
const mirrorScope = 'contents:read';

/** Clients request a hundred objects at a time. */
const maxObjects = 1_000;

/** Undefined if the client must request the whole batch from the store: it uses one server for each batch. */
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
  const store = objectsOf(workspace);
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
    // Without a store to redirect to, each object that the mirror lacks gets an error.
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

/** Redirects clients to the store of the repository, which authenticates them itself. */
function sendToStore(workspace: FoundWorkspace): ApiResponse {
  const store = lfsEndpoint(workspace);
  if (store === undefined) throw new Refusal('invalid-request', unknownStore(workspace));
  // The client repeats the request, with its body, at the other URL (RFC 9110 section 15.4.8).
  const response = lfsResponse(307, { message: `The LFS objects of ${workspace.id} are at ${store}.` });
  return { ...response, headers: { ...response.headers, location: `${store}/objects/batch` } };
}

const unknownStore = ({ id }: FoundWorkspace): string =>
  `The URL of the LFS objects of ${id} is unknown, because its remote does not use http(s). Ask the operator to set it: workspace-service workspace update ${id} --lfs-url https://…`;

/** git-lfs retries after a 429 by itself, but not after a 503. */
const comeBack = (detail: string): Refusal => new Refusal('rate-limited', detail, { headers: { 'retry-after': '5' } });

/** Limits the memory for chunks of all downloads: see send-output.ts. A client runs about eight downloads. */
const parallelDownloads = {
  max: 128,
  maxPerKey: 64,
  timeout: {
    // Clients give up after half a minute without data.
    ms: 20_000,
    error: () => comeBack('Too many objects are being downloaded. Try again in a few seconds.'),
  },
};

/** Adds the route for the contents of objects. The signature in the URL replaces a token. */
function addDownloadRoute(app: App, { storage, objectsOf, pullThrough, urlSigner }: LfsParts): void {
  const limitDownloads = limitParallel(parallelDownloads);

  /** The URL may have been signed by another instance, which has the object. */
  async function find(id: string, object: ObjectName): Promise<StoredObject | undefined> {
    const workspace = await findWorkspace(storage.read, id);
    if (workspace === undefined) return undefined;
    const use = () => objectsOf(workspace).use(object);
    const found = await use();
    if (found !== undefined) return found;
    const pending = await pullThrough.objects(workspace, async () => (await use()) !== undefined);
    if (pending !== undefined) throw comeBack(pending);
    return use();
  }

  /** Keeps its slot until the response is sent. */
  function download(c: Context<Environment>, file: FileResponse): Promise<Response> {
    return new Promise((resolve, reject) => {
      limitDownloads(subscriberOf(c.get('clientAddress') ?? ''), async () => {
        const { response, ended } = await sendFile(c, file);
        resolve(response);
        await ended;
      }).catch(reject);
    });
  }

  // The pattern matches only hexadecimal ids. Other paths below `objects` keep their own responses.
  app.get(`${basePath}/objects/:oid{[0-9a-f]+}`, async (c) => {
    const [workspace, text] = [c.req.param('id'), c.req.param('oid')];
    const refuse = (status: number, message: string): Response =>
      send(c, lfsError(status, message, c.get('requestId')));
    const query = readQuery(c.env.incoming.url ?? '', signedNames);
    const verification = urlSigner.verify(workspace, text, query);
    const oid = parseOid(text);
    if (verification.kind === 'invalid' || !oid.ok) {
      return refuse(403, 'This service did not issue this URL. Request one from objects/batch.');
    }
    if (verification.kind === 'expired') {
      return refuse(403, 'This URL has expired. Request another one from objects/batch.');
    }
    const found = await find(workspace, { oid: oid.value, size: verification.size });
    if (found === undefined) {
      return refuse(404, 'The mirror no longer has this object. Request its current URL from objects/batch.');
    }
    const response = responseTo(c, found, oid.value);
    return c.req.method === 'HEAD' ? new Response(null, response) : download(c, response);
  });
}

function responseTo(c: Context<Environment>, { path, size }: StoredObject, oid: string): FileResponse {
  const etag = `"${oid}"`;
  const isRanged = c.req.method !== 'HEAD' && [undefined, etag].includes(c.req.header('if-range'));
  const range = parseByteRange((isRanged && c.req.header('range')) || '', size);
  const isPart = range.end - range.start < size;
  return {
    path,
    range,
    status: isPart ? 206 : 200,
    headers: responseHeaders(c, {
      'content-type': 'application/octet-stream',
      'content-length': String(range.end - range.start),
      'accept-ranges': 'bytes',
      etag,
      'cache-control': 'private',
      ...(isPart && { 'content-range': `bytes ${range.start}-${range.end - 1}/${size}` }),
    }),
  };
}
