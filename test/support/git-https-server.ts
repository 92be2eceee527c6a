import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export interface GitHttpsServer {
  /** The address of a repository, by its path below the folder that is served. */
  address(repository: string, userinfo?: string): string;
  readonly host: string;
  /** The certificate of the server, for GIT_SSL_CAINFO. */
  readonly certificate: string;
  readonly requests: readonly { readonly url: string; readonly authorization: string | undefined }[];
}

export interface GitHttpsOptions {
  /** What is served: every bare repository in this folder. */
  readonly folder: string;
  /** Answers in place of git where it gives true. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;
  /** Called before each piece of an answer of git goes out; it goes when the promise is kept. */
  readonly beforeSending?: (bytesSent: number) => Promise<void>;
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

/** RFC 3875: the head of a CGI answer, of which `Status` is the status line. */
function readHead(head: string, response: ServerResponse): void {
  for (const line of head.split(/\r?\n/)) {
    const [, name = '', value = ''] = /^([^:]+): *(.*)$/.exec(line) ?? [];
    if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
    else if (name !== '') response.setHeader(name, value);
  }
}

async function serveGit(request: IncomingMessage, response: ServerResponse, options: GitHttpsOptions): Promise<void> {
  const url = new URL(request.url ?? '/', 'https://localhost');
  const header = (name: string): string => String(request.headers[name] ?? '');
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: devNull,
      GIT_PROJECT_ROOT: options.folder,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: header('git-protocol'),
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: header('content-type'),
      HTTP_CONTENT_ENCODING: header('content-encoding'),
      REMOTE_ADDR: '127.0.0.1',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  response.on('close', () => backend.kill());
  request.pipe(backend.stdin.on('error', () => {}));

  let head: Buffer | undefined = Buffer.alloc(0);
  let sent = 0;
  for await (const chunk of backend.stdout) {
    let body: Buffer = chunk;
    if (head !== undefined) {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) continue;
      readHead(head.toString('latin1', 0, end), response);
      body = head.subarray(end + 4);
      head = undefined;
    }
    await options.beforeSending?.(sent);
    response.write(body);
    sent += body.length;
  }
  response.end();
}

/** The real `git http-backend` behind TLS, with a certificate made for the occasion. */
export async function startGitHttpsServer(options: GitHttpsOptions): Promise<GitHttpsServer> {
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  return {
    host,
    certificate,
    requests,
    address: (repository, userinfo) => `https://${userinfo === undefined ? '' : `${userinfo}@`}${host}/${repository}`,
  };
}
