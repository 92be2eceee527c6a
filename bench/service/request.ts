import { type Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Asked {
  readonly origin: Pick<URL, 'hostname' | 'port'>;
  readonly token: string;
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** With the query, from `/v1` on. */
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
  /** Any other status fails. */
  readonly statuses: readonly number[];
  /** Without an agent, the request has a connection of its own. */
  readonly agent?: Agent | false;
  readonly signal?: AbortSignal;
}

/** A request to the service, as cheap as Node makes one: its time is part of what is measured. */
export function ask({ origin, token, statuses, body = '', headers, ...asked }: Asked): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const options = {
    method: 'GET',
    agent: false as const,
    ...asked,
    hostname: origin.hostname,
    port: origin.port,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...headers,
    },
  };
  request(options, (answer) => {
    const status = answer.statusCode ?? 0;
    let read = '';
    answer
      .setEncoding('utf8')
      .on('data', (text: string) => {
        read += text;
      })
      .once('error', reject)
      .once('end', () => {
        if (statuses.includes(status)) resolve({ status, headers: answer.headers, body: read });
        else reject(new Error(`${options.method} ${asked.path} was answered with ${status}: ${read}`));
      });
  })
    .once('error', reject)
    .end(body);
  return promise;
}
