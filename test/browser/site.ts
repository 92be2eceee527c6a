import { createServer } from 'node:http';
import { listenHere } from '../support/listen.ts';

/** As strict as the policy of the dashboard: nothing inline, and no markup built from strings. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: http://192.0.2.1",
  'connect-src http: ws:',
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export interface Site {
  readonly origin: string;
  close(): Promise<void>;
}

/** A complete document around the content of a test. */
export const documentOf = (content: string): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Locks</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css"></head>
<body><main><h1>Locks</h1>${content}</main></body>
</html>`;

const types: Readonly<Record<string, string>> = { js: 'text/javascript', css: 'text/css', events: 'text/event-stream' };

/** Serves each path as its text. A path ending in `.events` stays open after its text, and `/forbidden` is 403. */
export async function startSite(files: Readonly<Record<string, string>>): Promise<Site> {
  const all: Readonly<Record<string, string>> = {
    '/style.css': `:root { color-scheme: light dark; background: #fff; }
      @media (prefers-color-scheme: dark) { :root { background: #111; } p.faint { color: #555; } }`,
    '/forbidden': documentOf('<p>You may not.</p>'),
    ...files,
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const text = all[pathname];
    if (text === undefined) {
      response.writeHead(404).end();
      return;
    }
    const extension = pathname.split('.')[1] ?? '';
    response.writeHead(pathname === '/forbidden' ? 403 : 200, {
      'content-type': `${types[extension] ?? 'text/html'}; charset=utf-8`,
      'content-security-policy': policy,
    });
    if (extension === 'events') response.write(text);
    else response.end(text);
  });
  const { port, close } = await listenHere(server);
  return { origin: `http://127.0.0.1:${port}`, close };
}
