import { createHash } from 'node:crypto';
import { type Answer, type Instead, openOtherServer, type SeenRequest } from './other-servers/other-server.ts';
import { json, nothing, raw } from './other-servers/responses.ts';

const type = { 'content-type': 'application/vnd.git-lfs+json' };

export interface StoredName {
  readonly oid: string;
  readonly size: number;
}

interface LfsAction {
  readonly href: string;
  readonly header?: Readonly<Record<string, string>>;
  readonly expires_in?: number;
  readonly expires_at?: string;
}

interface Batch {
  readonly operation: 'upload' | 'download';
  readonly objects: readonly StoredName[];
}

/** Differences from a well-behaved store; a test may change them at any time. */
export interface LfsBehaviour {
  /** Accepts requests without credentials. */
  public?: boolean;
  batch?: Instead<[objects: readonly StoredName[]]> | undefined;
  download?: Instead<[object: StoredName]> | undefined;
  /** Changes the URL that is returned for an object. */
  action?: ((action: LfsAction, object: StoredName) => LfsAction) | undefined;
}

/** The file that git stores instead of an object. */
export const pointerTo = ({ oid, size }: StoredName): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;

export const nameOf = (content: Buffer | string): StoredName => ({
  oid: createHash('sha256').update(content).digest('hex'),
  size: Buffer.byteLength(content),
});

/** A store for LFS objects with its own user name and password, like that of a remote. */
export async function startLfsStore(behaviour: LfsBehaviour = {}) {
  const [username, password] = ['store-user', 'store-password'];
  const objects = new Map<string, Buffer>();
  const authorizations: (string | undefined)[] = [];
  const downloads: { oid: string; headers: SeenRequest['headers'] }[] = [];
  const expected = `Basic ${btoa(`${username}:${password}`)}`;

  function batch({ headers }: SeenRequest, { operation, objects: asked }: Batch): Answer {
    if (!behaviour.public && headers.authorization !== expected)
      return json(401, { message: 'Sign in at the store.' }, { 'lfs-authenticate': 'Basic realm="store"', ...type });
    const answered = asked.map(({ oid, size }) => {
      const isThere = objects.has(oid);
      const href = `http://${headers.host}/objects/${oid}`;
      const action = behaviour.action?.({ href }, { oid, size }) ?? { href };
      if (operation === 'upload') return { oid, size, ...(!isThere && { actions: { upload: action } }) };
      if (!isThere) return { oid, size, error: { code: 404, message: 'Object does not exist' } };
      return { oid, size, authenticated: true, actions: { download: action } };
    });
    return json(200, { transfer: 'basic', objects: answered }, type);
  }

  async function responseTo(request: SeenRequest): Promise<Answer> {
    const { method, url, headers, bytes } = request;
    if (url.endsWith('/objects/batch')) {
      authorizations.push(headers.authorization);
      // Only clients of tests send it.
      const asked = JSON.parse(request.body) as Batch;
      return (await behaviour.batch?.(request, asked.objects)) ?? batch(request, asked);
    }
    const oid = url.replace(/^.*\/|\?.*$/g, '');
    if (method === 'PUT') {
      if (nameOf(bytes).oid === oid) objects.set(oid, bytes);
      return nothing(200);
    }
    downloads.push({ oid, headers });
    const found = objects.get(oid);
    const object = { oid, size: found?.length ?? 0 };
    return (await behaviour.download?.(request, object)) ?? (found === undefined ? nothing(404) : raw(200, found));
  }

  const server = await openOtherServer(async (response, request) => (await responseTo(request))(response, request));
  return {
    ...server,
    /** The endpoint, to which clients append `/objects/batch`. */
    url: `${server.origin}/studio/game.git/info/lfs`,
    username,
    password,
    /** The objects by their ids. */
    objects,
    behaviour,
    /** The `Authorization` header of each batch request, in order. */
    authorizations,
    /** The requests for objects themselves, in order. */
    downloads,
    put(content: Buffer | string): StoredName {
      const name = nameOf(content);
      objects.set(name.oid, Buffer.from(content));
      return name;
    },
  };
}
