import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { listenHere } from '../../support/listen.ts';
import { lfsMediaType } from './lfs-of.ts';

export interface LfsStore {
  /** The endpoint, which clients add `/objects/batch` to. */
  readonly url: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  /** By their ids. */
  readonly objects: ReadonlyMap<string, Buffer>;
  /** The `Authorization` of each request for a batch, in their order. */
  readonly authorizations: readonly (string | undefined)[];
  stop(): void;
}

interface Batch {
  readonly operation: 'upload' | 'download';
  readonly objects: readonly { readonly oid: string; readonly size: number }[];
}

/** A store for LFS objects, with a user name and a password of its own: such as the remote of a workspace has. */
export async function startLfsStore(): Promise<LfsStore> {
  const [username, password] = ['store-user', 'store-password'];
  const objects = new Map<string, Buffer>();
  const authorizations: (string | undefined)[] = [];
  const expected = `Basic ${btoa(`${username}:${password}`)}`;

  const server = createServer(async (request, response) => {
    const { method, url = '', headers } = request;
    if (url.endsWith('/objects/batch')) {
      authorizations.push(headers.authorization);
      // Only this test's client sends it.
      const { operation, objects: asked } = JSON.parse(await text(request)) as Batch;
      if (headers.authorization !== expected) {
        response.writeHead(401, { 'lfs-authenticate': 'Basic realm="store"', 'content-type': lfsMediaType });
        response.end(JSON.stringify({ message: 'Sign in at the store.' }));
        return;
      }
      const href = (oid: string): string => `http://${headers.host}/objects/${oid}`;
      const answered = asked.map(({ oid, size }) => {
        const isThere = objects.has(oid);
        if (operation === 'upload') return { oid, size, ...(!isThere && { actions: { upload: { href: href(oid) } } }) };
        return { oid, size, ...(isThere && { actions: { download: { href: href(oid) } } }) };
      });
      response.writeHead(200, { 'content-type': lfsMediaType });
      response.end(JSON.stringify({ transfer: 'basic', objects: answered }));
      return;
    }
    const oid = url.replace(/^.*\//, '');
    if (method === 'PUT') {
      const bytes = await buffer(request);
      if (createHash('sha256').update(bytes).digest('hex') === oid) objects.set(oid, bytes);
      response.writeHead(200).end();
      return;
    }
    const bytes = objects.get(oid);
    response.writeHead(bytes === undefined ? 404 : 200).end(bytes);
  });
  const port = await listenHere(server);
  return {
    url: `http://127.0.0.1:${port}/studio/game.git/info/lfs`,
    port,
    username,
    password,
    objects,
    authorizations,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
