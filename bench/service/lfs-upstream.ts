import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { serveGit } from '../../test/support/git-http-backend.ts';
import { listenHere } from '../../test/support/listen.ts';
import { answerParent, type Ends, startHelper } from '../process.ts';

interface AskedObject {
  readonly oid: string;
  readonly size: number;
}

async function sendFile(file: string, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-length': (await stat(file)).size });
  await pipeline(createReadStream(file), response);
}

const listen = (folder: string): Promise<number> =>
  listenHere(
    createServer(async (request, response) => {
      const { url = '', headers } = request;
      if (url.endsWith('/objects/batch')) {
        // Git LFS and the service ask, and nobody else.
        const { objects } = (await json(request)) as { readonly objects: readonly AskedObject[] };
        const answered = objects.map(({ oid, size }) => ({
          ...{ oid, size, authenticated: true },
          actions: { download: { href: `http://${headers.host}/objects/${oid}` } },
        }));
        response.writeHead(200, { 'content-type': 'application/vnd.git-lfs+json' });
        response.end(JSON.stringify({ transfer: 'basic', objects: answered }));
      } else if (url.startsWith('/objects/'))
        await sendFile(join(folder, url), response).catch(() => response.destroy());
      else await serveGit(request, response, { folder });
    }),
  );

/** Where a team keeps its repositories and their LFS objects: everything in a folder, from a process of its own. */
export async function startUpstream(ends: Ends, folder: string): Promise<string> {
  return `http://127.0.0.1:${await startHelper<string, number>(ends, import.meta.filename)(folder)}`;
}

if (import.meta.main) answerParent(listen);
