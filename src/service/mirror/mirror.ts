import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Hono } from 'hono';
import { problems } from '../../interface/problem.ts';
import { errorCode } from '../../interface/system-errors.ts';
import { type AccessControl, byBearerOrPassword, requireAccess } from '../access/access.ts';
import { requestedWorkspace } from '../access/caller.ts';
import { Refusal } from '../contract/response.ts';
import { redactRemote } from '../git/remote.ts';
import type { RefusalRenderer } from '../http/app.ts';
import { readBytes, tooLarge } from '../http/body.ts';
import { type App, type Environment, send } from '../http/context.ts';
import { readQuery } from '../http/request-target.ts';
import { createServe, type ServeParts } from './serve.ts';

export type MirrorParts = AccessControl & ServeParts;

const address = '/v1/workspaces/:id/git';

/** A read-only git remote per workspace: gitprotocol-http(5). Not in the API, because git shows only plain text. */
export function createMirror(parts: MirrorParts): App {
  const { storage } = parts;
  const app: App = new Hono<Environment>();
  const serve = createServe(parts);

  app.all(`${address}/*`, requireAccess({ ...parts, authScheme: byBearerOrPassword }, 'contents:read'));

  app.get(`${address}/info/refs`, async (c) => {
    const workspace = await requestedWorkspace(c, storage);
    const { service } = readQuery(c.env.incoming.url ?? '', ['service']);
    if (service === 'git-receive-pack') throw pushRefused(workspace);
    // git and Hono would both write the response to a HEAD.
    if (service !== 'git-upload-pack' || c.req.method === 'HEAD') throw notServed();
    return serve(c, workspace);
  });

  app.post(`${address}/git-upload-pack`, async (c) => {
    const workspace = await requestedWorkspace(c, storage);
    return serve(c, workspace, readerOf(c.env.incoming));
  });

  app.all(`${address}/*`, async (c) => {
    const workspace = await requestedWorkspace(c, storage);
    throw c.req.path.endsWith('/git-receive-pack') ? pushRefused(workspace) : notServed();
  });
  return app;
}

const pushRefused = ({ id, remote }: Readonly<Record<'id' | 'remote', string>>): Refusal =>
  new Refusal(
    'read-only',
    `The mirror of ${id} is read-only. Push to the repository that it mirrors: ${redactRemote(remote)}`,
  );

const notServed = (): Refusal =>
  new Refusal(
    'read-only',
    'This URL supports only git clone, git fetch and git ls-remote, over the smart HTTP protocol of git.',
  );

/** Enough for about 200,000 ids of commits that a client has. */
const maxBytes = 10 * 1_024 * 1_024;

/** Returns a function that reads the body of a request: gitprotocol-http(5), "Smart Service git-upload-pack". */
function readerOf(incoming: IncomingMessage): () => Promise<Buffer> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = incoming.headers;
  if (type !== 'application/x-git-upload-pack-request') {
    throw new Refusal('unsupported-media-type', 'The Content-Type must be application/x-git-upload-pack-request.');
  }
  const isZipped = /^(?:x-)?gzip$/i.test(encoding);
  if (!isZipped && encoding.toLowerCase() !== 'identity') {
    throw new Refusal('unsupported-media-type', 'Send the request without a Content-Encoding, or with gzip.', {
      headers: { 'accept-encoding': 'gzip, identity' },
    });
  }
  return async () => {
    const bytes = await readBytes(incoming, maxBytes);
    return isZipped ? unzipped(bytes) : bytes;
  };
}

const unzip = promisify(gunzip);

async function unzipped(bytes: Buffer): Promise<Buffer> {
  try {
    return await unzip(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (errorCode(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes);
    throw new Refusal('malformed-request', 'The body is not valid gzip, although its Content-Encoding says so.');
  }
}

/** git asks its credential helpers for a password after a Basic challenge. */
const basic = 'Basic realm="workspace-service"';

/** git prints the body of an error only if it is plain text (remote-curl.c, show_http_message). */
export const sendGitError: RefusalRenderer = (c, { problem, message, extras: { headers = {} } }) =>
  send(c, {
    status: problems[problem].status,
    headers: {
      ...headers,
      ...(problem === 'unauthorized' && { 'www-authenticate': basic }),
      'content-type': 'text/plain; charset=utf-8',
    },
    body: `${message}\n`,
  });
