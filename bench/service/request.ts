import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';

/** A workspace at an instance of the service. */
export interface Target {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly workspace: string;
  readonly token: string;
}

/** Another server, without workspaces and tokens. */
type Peer = Pick<Target, 'baseUrl'>;

export interface Asked {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Relative to the workspace or the peer, with the query. */
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
  /** The expected statuses. Any other is an error. */
  readonly statuses: readonly number[];
}

/** Sends requests over its own connections, with as little overhead as possible: the figures include that overhead. */
export function openClient(target: Target | Peer, signal?: AbortSignal, maxSockets = Infinity) {
  const { hostname, port, pathname } = new URL(target.baseUrl);
  const isOurs = 'workspace' in target;
  const root = isOurs ? `${pathname}/workspaces/${target.workspace}` : pathname;
  const agent = new Agent({ keepAlive: true, maxSockets });

  function ask({ method = 'GET', path, headers, body = '', statuses }: Asked) {
    const { promise, resolve, reject } = Promise.withResolvers<{
      status: number;
      headers: IncomingHttpHeaders;
      body: string;
    }>();
    const options = {
      ...{ method, agent, hostname, port, ...(signal && { signal }) },
      path: `${root}${path}`,
      headers: {
        ...(isOurs && { authorization: `Bearer ${target.token}` }),
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        ...headers,
      },
    };
    request(options, (response) => {
      const status = response.statusCode ?? 0;
      let read = '';
      response
        .setEncoding('utf8')
        .on('data', (text: string) => {
          read += text;
        })
        .once('error', reject)
        .once('end', () => {
          if (statuses.includes(status)) resolve({ status, headers: response.headers, body: read });
          else reject(new Error(`The response to ${method} ${path} was ${status}: ${read}`));
        });
    })
      .once('error', reject)
      .end(body);
    return promise;
  }
  return { ask, close: () => agent.destroy() };
}
