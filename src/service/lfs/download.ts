import type { Context } from 'hono';
import { Refusal } from '../contract/response.ts';
import { type App, type Environment, responseHeaders, send } from '../http/context.ts';
import { readQuery } from '../http/request-target.ts';
import { type FileResponse, parseByteRange, sendFile } from '../http/send-output.ts';
import type { PullThrough } from '../mirror/pull-through.ts';
import { subscriberOf } from '../platform/ip-address.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import type { Storage } from '../storage/storage.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';
import { type ObjectName, parseOid } from './pointer.ts';
import { basePath, lfsError } from './responses.ts';
import { signedNames, type UrlSigner } from './signed-url.ts';

export interface DownloadRoutes {
  readonly storage: Pick<Storage, 'read'>;
  readonly objectsOf: (workspace: string) => Pick<ObjectStore, 'use'>;
  readonly pullThrough: Pick<PullThrough, 'objects'>;
  readonly urlSigner: UrlSigner;
}

/** git-lfs asks again by itself after a 429, but not after a 503. */
export const comeBack = (detail: string): Refusal =>
  new Refusal('rate-limited', detail, { headers: { 'retry-after': '5' } });

/** Limits the memory for chunks of all downloads: see send-output.ts. A client opens about eight downloads. */
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
export function addDownloadRoute(app: App, { storage, objectsOf, pullThrough, urlSigner }: DownloadRoutes): void {
  const limitDownloads = limitParallel(parallelDownloads);

  /** Another instance may have signed the URL. */
  async function find(id: string, object: ObjectName): Promise<StoredObject | undefined> {
    const workspace = await findWorkspace(storage.read, id);
    if (workspace === undefined) return undefined;
    const use = () => objectsOf(id).use(object);
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

  // The pattern matches only hexadecimal ids, so that other paths below `objects` keep their own responses.
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
