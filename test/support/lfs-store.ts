import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { listenHere } from './listen.ts';

const mediaType = 'application/vnd.git-lfs+json';

export interface StoredName {
  readonly oid: string;
  readonly size: number;
}

export interface LfsAction {
  readonly href: string;
  readonly header?: Readonly<Record<string, string>>;
  readonly expires_in?: number;
  readonly expires_at?: string;
}

interface Batch {
  readonly operation: 'upload' | 'download';
  readonly objects: readonly StoredName[];
}

/** Handles a request itself, or returns false to leave it to the store. */
export type Behaviour = (
  request: IncomingMessage,
  response: ServerResponse,
  objects: readonly StoredName[],
) => boolean | Promise<boolean>;

/** Differences from a well-behaved store; a test may change them at any time. */
export interface LfsBehaviour {
  /** Accepts requests without credentials. */
  public?: boolean;
  batch?: Behaviour | undefined;
  /** Its last argument contains the one requested object. */
  download?: Behaviour | undefined;
  /** Changes the URL that is returned for an object. */
  action?: ((action: LfsAction, object: StoredName) => LfsAction) | undefined;
}

export interface LfsStore {
  /** The endpoint, to which clients append `/objects/batch`. */
  readonly url: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  /** The objects by their ids. */
  readonly objects: Map<string, Buffer>;
  readonly behaviour: LfsBehaviour;
  /** The `Authorization` header of each batch request, in order. */
  readonly authorizations: readonly (string | undefined)[];
  /** The requests for objects themselves, in order. */
  readonly downloads: readonly { readonly oid: string; readonly headers: IncomingMessage['headers'] }[];
  put(content: Buffer | string): StoredName;
  stop(): void;
}

/** The file that git stores instead of an object. */
export const pointerTo = ({ oid, size }: StoredName): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;

export const nameOf = (content: Buffer | string): StoredName => ({
  oid: createHash('sha256').update(content).digest('hex'),
  size: Buffer.byteLength(content),
});

/** RFC 9110 section 14: the only range that clients request, up to the end. */
function sendObject({ headers }: IncomingMessage, response: ServerResponse, bytes: Buffer): void {
  const [, from] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? [];
  if (from === undefined) response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
  else if (Number(from) >= bytes.length) {
    response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
  } else {
    const rest = bytes.subarray(Number(from));
    const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
    response.writeHead(206, { 'content-range': range, 'content-length': rest.length }).end(rest);
  }
}

/** A store for LFS objects with its own user name and password, like that of a remote. */
export async function startLfsStore(behaviour: LfsBehaviour = {}): Promise<LfsStore> {
  const [username, password] = ['store-user', 'store-password'];
  const objects = new Map<string, Buffer>();
  const authorizations: (string | undefined)[] = [];
  const downloads: { oid: string; headers: IncomingMessage['headers'] }[] = [];
  const expected = `Basic ${btoa(`${username}:${password}`)}`;

  async function answerBatch(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { headers } = request;
    authorizations.push(headers.authorization);
    // Only clients of tests send it.
    const { operation, objects: asked } = JSON.parse(await text(request)) as Batch;
    if (await behaviour.batch?.(request, response, asked)) return;
    if (!behaviour.public && headers.authorization !== expected) {
      response.writeHead(401, { 'lfs-authenticate': 'Basic realm="store"', 'content-type': mediaType });
      response.end(JSON.stringify({ message: 'Sign in at the store.' }));
      return;
    }
    const answered = asked.map(({ oid, size }) => {
      const isThere = objects.has(oid);
      const href = `http://${headers.host}/objects/${oid}`;
      const action = behaviour.action?.({ href }, { oid, size }) ?? { href };
      if (operation === 'upload') return { oid, size, ...(!isThere && { actions: { upload: action } }) };
      if (!isThere) return { oid, size, error: { code: 404, message: 'Object does not exist' } };
      return { oid, size, authenticated: true, actions: { download: action } };
    });
    response.writeHead(200, { 'content-type': mediaType });
    response.end(JSON.stringify({ transfer: 'basic', objects: answered }));
  }

  const server = createServer(async (request, response) => {
    const { method, url = '', headers } = request;
    if (url.endsWith('/objects/batch')) return answerBatch(request, response);
    const oid = url.replace(/^.*\//, '');
    if (method === 'PUT') {
      const bytes = await buffer(request);
      if (nameOf(bytes).oid === oid) objects.set(oid, bytes);
      response.writeHead(200).end();
      return;
    }
    downloads.push({ oid, headers });
    const bytes = objects.get(oid);
    if (await behaviour.download?.(request, response, [{ oid, size: bytes?.length ?? 0 }])) return;
    if (bytes === undefined) response.writeHead(404).end();
    else sendObject(request, response, bytes);
  });
  const port = await listenHere(server);
  return {
    url: `http://127.0.0.1:${port}/studio/game.git/info/lfs`,
    port,
    username,
    password,
    objects,
    behaviour,
    authorizations,
    downloads,
    put(content) {
      const name = nameOf(content);
      objects.set(name.oid, Buffer.from(content));
      return name;
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
