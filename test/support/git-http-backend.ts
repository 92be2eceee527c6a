import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { devNull } from 'node:os';

export interface ServedRepositories {
  /** The folder of the bare repositories to serve. */
  readonly folder: string;
  /** Called before each piece of a git response is sent; the piece waits for the promise. */
  readonly beforeSending?: (bytesSent: number) => Promise<void>;
}

/** RFC 3875: parses the head of a CGI response. `Status` is its status line. */
function readHead(head: string, response: ServerResponse): void {
  for (const line of head.split(/\r?\n/)) {
    const [, name = '', value = ''] = /^([^:]+): *(.*)$/.exec(line) ?? [];
    if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
    else if (name !== '') response.setHeader(name, value);
  }
}

/** Responds with the real `git http-backend`. */
export async function serveGit(
  request: IncomingMessage,
  response: ServerResponse,
  options: ServedRepositories,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
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
