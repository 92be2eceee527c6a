import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ServedRepositories, serveGit } from './git-http-backend.ts';
import { listenHere } from './listen.ts';
import { selfSigned } from './self-signed.ts';

export interface GitHttpsOptions extends ServedRepositories {
  /** Responds instead of git if it returns true. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;
}

/** The real `git http-backend` behind TLS, with a generated certificate. */
export async function startGitHttpsServer(options: GitHttpsOptions) {
  const tls = selfSigned('localhost');
  const certificate = join(options.folder, 'certificate.pem');
  writeFileSync(certificate, tls.cert);
  const requests: { url: string; authorization: string | undefined }[] = [];
  const server = createServer(tls, async (request, response) => {
    requests.push({ url: request.url ?? '', authorization: request.headers.authorization });
    response.on('error', () => {});
    if ((await options.answer?.(request, response)) === true) return;
    await serveGit(request, response, options);
  });
  const { port, close } = await listenHere(server);
  onTestFinished(close);
  const host = `127.0.0.1:${port}`;
  return {
    host,
    /** The certificate of the server, for GIT_SSL_CAINFO. */
    certificate,
    requests,
    /** The URL of a repository, by its path below the served folder. */
    address: (repository: string, userinfo?: string) =>
      `https://${userinfo === undefined ? '' : `${userinfo}@`}${host}/${repository}`,
  };
}
