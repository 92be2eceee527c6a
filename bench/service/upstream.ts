import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { serveGit } from '../../test/support/git-http-backend.ts';
import type { StoredName } from '../../test/support/lfs-store.ts';
import { type Listening, listenHere } from '../../test/support/listen.ts';

async function sendFile(file: string, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-length': (await stat(file)).size });
  await pipeline(createReadStream(file), response);
}

/** Starts a Git host with the repositories of a folder and the LFS objects in its `objects`. */
export const startUpstream = (folder: string): Promise<Listening> =>
  listenHere(
    createServer(async (request, response) => {
      const { url = '', headers } = request;
      if (url === '/objects/batch') {
        // Only Git LFS and the service send requests.
        const { objects } = (await json(request)) as { readonly objects: readonly StoredName[] };
        const found = objects.map(({ oid, size }) => {
          const href = `http://${headers.host}/objects/${oid}`;
          return { oid, size, authenticated: true, actions: { download: { href } } };
        });
        response.writeHead(200, { 'content-type': 'application/vnd.git-lfs+json' });
        response.end(JSON.stringify({ transfer: 'basic', objects: found }));
      } else if (url.startsWith('/objects/')) {
        await sendFile(join(folder, url), response).catch(() => response.destroy());
      } else await serveGit(request, response, { folder });
    }),
  );
