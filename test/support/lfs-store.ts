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

/** Answers a request in its own way, or leaves it to the store by giving false. */
export type Behaviour = (
  request: IncomingMessage,
  response: ServerResponse,
  objects: readonly StoredName[],
) => boolean | Promise<boolean>;

/** How the store differs from a good one; a test may change it at any time. */
export interface LfsBehaviour {
  /** It lets everybody in. */
  public?: boolean;
  batch?: Behaviour | undefined;
  /** Its last argument has the one object that is asked for. */
  download?: Behaviour | undefined;
  /** Changes where an object is said to be. */
  action?: ((action: LfsAction, object: StoredName) => LfsAction) | undefined;
}

export interface LfsStore {
  /** The endpoint, which clients add `/objects/batch` to. */
  readonly url: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  /** By their ids. */
  readonly objects: Map<string, Buffer>;
  readonly behaviour: LfsBehaviour;
  /** The `Authorization` of each request for a batch, in their order. */
  readonly authorizations: readonly (string | undefined)[];
  /** The requests for objects themselves, in their order. */
  readonly downloads: readonly { readonly oid: string; readonly headers: IncomingMessage['headers'] }[];
  put(content: Buffer | string): StoredName;
  stop(): void;
}

/** The file that git keeps instead of an object. */
export const pointerTo = ({ oid, size }: StoredName): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;

export const nameOf = (content: Buffer | string): StoredName => ({
  oid: createHash('sha256').update(content).digest('hex'),
  size: Buffer.byteLength(content),
});

/** RFC 9110 section 14: the one range that clients ask for, up to the end. */
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

/** A store for LFS objects, with a user name and a password of its own: such as the remote of a workspace has. */
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
