import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ServedRepositories, serveGit } from './git-http-backend.ts';
import { listenHere } from './listen.ts';

export interface GitHttpsOptions extends ServedRepositories {
  /** Responds instead of git if it returns true. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;
}

function makeCertificate(folder: string): { readonly certificate: string; readonly key: string } {
  const certificate = join(folder, 'certificate.pem');
  const key = join(folder, 'key.pem');
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', certificate], {
    stdio: 'pipe',
  });
  return { certificate, key };
}

/** The real `git http-backend` behind TLS, with a generated certificate. */
export async function startGitHttpsServer(options: GitHttpsOptions) {
  const { certificate, key } = makeCertificate(options.folder);
  const requests: { url: string; authorization: string | undefined }[] = [];
  const server = createServer(
    { cert: readFileSync(certificate), key: readFileSync(key) },
    async (request, response) => {
      requests.push({ url: request.url ?? '', authorization: request.headers.authorization });
      response.on('error', () => {});
      if ((await options.answer?.(request, response)) === true) return;
      await serveGit(request, response, options);
    },
  );
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
