import { afterAll, beforeAll, expect } from 'vitest';
import { type DatabaseKind, sqlite } from '../../support/databases.ts';
import { askRaw, writeRequest } from '../../support/raw-http.ts';
import {
  ask,
  type Reply,
  type RunningService,
  type RunningServiceOptions,
  startTestService,
  type TokenOptions,
} from '../../support/running-service.ts';

/** What a browser does, without one: it keeps cookies, says where a form comes from, and sends what the page has hidden. */
export interface Visitor {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** For any address: of what goes on for as long as somebody listens, only the head is looked at. */
  look(path: string): Promise<Reply>;
  /** Sends a form as the page at `from` has it, with these fields. */
  submit(from: string, path: string, fields?: Fields): Promise<Reply>;
  /** A header that is undefined is left out. */
  post(path: string, fields: Fields, headers?: Readonly<Record<string, string | undefined>>): Promise<Reply>;
  signIn(secret: string): Promise<Reply>;
  cookie(): string;
}

export type Fields = Readonly<Record<string, string | readonly string[]>>;

const accept = 'text/html,application/xhtml+xml';

export const formTokenIn = (page: string): string => /name="form_token" value="([^"]+)"/.exec(page)?.[1] ?? '';

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
    look: async (path) =>
      keep(await ask(baseUrl, 'GET', path, { headers: { accept, cookie: cookie() }, mayBeEndless: true })),
    post: async (path, fields, headers = {}) =>
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
    async submit(from, path, fields = {}) {
      const page = await visitor.get(from);
      return visitor.post(path, { form_token: formTokenIn(page.text), ...fields });
    },
    signIn: (secret) => visitor.post('/sign-in', { token: secret, to: '/' }),
  };
  return visitor;
}

export interface SignedIn extends Visitor {
  /** Of the token. */
  readonly id: string;
  readonly secret: string;
}

/** Somebody who is signed in with a new token. */
export async function signedIn(service: RunningService, options?: TokenOptions): Promise<SignedIn> {
  const token = await service.token(options);
  const visitor = visit(service);
  expect((await visitor.signIn(token.secret)).status).toBe(303);
  return { ...visitor, ...token };
}

/** The service of all tests of a file, or of a group of them. */
export function serviceOfTests(options?: RunningServiceOptions, kind: DatabaseKind = sqlite): RunningService {
  // Nobody looks at it before it is started.
  const shared = {} as RunningService;
  beforeAll(async () => void Object.assign(shared, await startTestService(kind, options)));
  afterAll(() => shared.stop());
  return shared;
}

/** An address in a page, as a browser reads it; empty where there is none. */
export const addressIn = (page: string, pattern: RegExp): string =>
  pattern.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';

/** Sends the head of a form whose body never comes: who reads the body first cannot answer. */
export const sendHeadAlone = ({ port }: RunningService, path: string, headers: readonly string[]) => {
  const form = ['Content-Type: application/x-www-form-urlencoded', 'Content-Length: 60000'];
  // A redirect has no body either.
  return askRaw(port, writeRequest({ method: 'POST', target: path, headers: [...headers, ...form] }), { head: true });
};
