import { expect } from 'vitest';
import { askRaw, writeRequest } from '../../support/raw-http.ts';
import { ask, type Reply, type RunningService, type TokenOptions } from '../../support/running-service.ts';

/** Behaves like a browser: keeps cookies and sends the origin of forms. */
export interface Visitor {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** Undefined headers are left out. */
  post(path: string, fields?: Fields, headers?: Readonly<Record<string, string | undefined>>): Promise<Reply>;
  signIn(secret: string): Promise<Reply>;
  cookie(): string;
}

export type Fields = Readonly<Record<string, string | readonly string[]>>;

const accept = 'text/html,application/xhtml+xml';

const present = (headers: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));

function encode(fields: Fields): string {
  const body = new URLSearchParams();
  for (const [name, values] of Object.entries(fields)) {
    for (const value of [values].flat()) body.append(name, value);
  }
  return body.toString();
}

export function visit({ baseUrl }: Pick<RunningService, 'baseUrl'>): Visitor {
  const jar = new Map<string, string>();
  const cookie = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ');

  function keep(reply: Reply): Reply {
    const [, name, value, rest = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(reply.headers.get('set-cookie') ?? '') ?? [];
    if (name === undefined || value === undefined) return reply;
    if (rest.includes('Max-Age=0')) jar.delete(name);
    else jar.set(name, value);
    return reply;
  }

  const visitor: Visitor = {
    cookie,
    get: async (path, headers = {}) =>
      keep(await ask(baseUrl, 'GET', path, { headers: { accept, cookie: cookie(), ...headers } })),
    post: async (path, fields = {}, headers = {}) =>
      keep(
        await ask(baseUrl, 'POST', path, {
          raw: encode(fields),
          headers: present({
            accept,
            cookie: cookie(),
            origin: baseUrl,
            'content-type': 'application/x-www-form-urlencoded',
            ...headers,
          }),
        }),
      ),
    signIn: (secret) => visitor.post('/sign-in', { token: secret, to: '/' }),
  };
  return visitor;
}

export interface SignedIn extends Visitor {
  /** The id of the token. */
  readonly id: string;
  readonly secret: string;
}

/** A visitor who is signed in with a new token. */
export async function signedIn(service: RunningService, options?: TokenOptions): Promise<SignedIn> {
  const token = await service.token(options);
  const visitor = visit(service);
  expect((await visitor.signIn(token.secret)).status).toBe(303);
  return { ...visitor, ...token };
}

/** A URL in a page, as a browser reads it; empty if there is none. */
export const urlIn = (page: string, pattern: RegExp): string => pattern.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';

/** The paths in a list, in their order. */
export const pathsIn = (page: string): string[] =>
  [...page.matchAll(/<a class="path" href="[^"]*\/paths\/([^"]*)"/g)].map(([, path = '']) => decodeURIComponent(path));

/** The text of the cells in each row of a table that begins with a time, without the time. */
export function rowsIn(page: string): string[] {
  return [...page.matchAll(/<tr>\s*<t[dh].*?<\/tr>/gs)]
    .map(([row]) => [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell = '']) => cell))
    .filter(([first]) => first?.includes('<time'))
    .map(([, ...cells]) => cells.map((cell) => cell.replaceAll(/<[^>]*>/g, '').trim()).join(' | '));
}

/** Sends the head of a form without its body, so that only a service that does not wait for it can answer. */
export const sendHeadAlone = ({ port }: RunningService, path: string, headers: readonly string[]) => {
  const form = ['Content-Type: application/x-www-form-urlencoded', 'Content-Length: 60000'];
  // A redirect has no body either.
  return askRaw(port, writeRequest({ method: 'POST', target: path, headers: [...headers, ...form] }), { head: true });
};
