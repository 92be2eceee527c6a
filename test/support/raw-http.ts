import { once } from 'node:events';
import { connect } from 'node:net';

/**
 * Hand-written HTTP/1.1: `fetch` and `node:http` repair URLs, headers and bodies before they send them, but a malicious
 * client does not.
 */
export interface RawAnswer {
  readonly status: number;
  /** Headers by lower-case name; the values of a repeated header are joined by commas. */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  /** The body as JSON, for tests to inspect; null if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test states the shape by what it expects of it.
  readonly body: any;
}

interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  /** The start of the body. */
  readonly end: number;
}

function readHead(received: Buffer): Head | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...fields] = received.subarray(0, end).toString('latin1').split('\r\n');
  const [, status] = /^HTTP\/1\.1 (\d{3})( |$)/.exec(statusLine) ?? [];
  if (status === undefined) throw new Error(`This is not the status line of an answer: ${statusLine}`);
  const headers = new Map<string, string>();
  for (const field of fields) {
    const colon = field.indexOf(':');
    const name = field.slice(0, colon).toLowerCase();
    const value = field.slice(colon + 1).trim();
    headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value);
  }
  return { status: Number(status), headers, end: end + 4 };
}

function answerOf({ status, headers }: Head, bytes: Buffer): RawAnswer {
  const text = bytes.toString();
  const isJson = headers.get('content-type')?.includes('json') === true && text !== '';
  return { status, headers, text, body: isJson ? JSON.parse(text) : null };
}

/** The length of a body. The service sends it for every body that exists. */
function bodyLength({ status, headers }: Head, toHead: boolean): number {
  if (toHead || status === 204 || status === 304 || status < 200) return 0;
  const length = headers.get('content-length');
  if (length === undefined) throw new Error('The answer has no Content-Length.');
  return Number(length);
}

export async function connectRaw(port: number) {
  const socket = connect({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  let received = Buffer.alloc(0);
  let ended = false;
  let wake = (): void => undefined;
  socket.on('data', (bytes) => {
    received = Buffer.concat([received, bytes]);
    wake();
  });
  // send() and response() report a connection that was cut.
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => {
    const end = (): void => {
      ended = true;
      wake();
      resolve();
    };
    socket.on('end', end);
    socket.on('close', end);
  });

  const more = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });

  return {
    /** Resolves when the other side has closed the connection. */
    closed,
    /** Resolves when the operating system has the bytes, and rejects if the other side has cut the connection. */
    send: (bytes: string | Uint8Array): Promise<void> =>
      new Promise((resolve, reject) => {
        socket.write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
    /** The next response; rejects if the connection ends without one. */
    async response({ head: toHead }: { readonly head: boolean } = { head: false }): Promise<RawAnswer> {
      for (;;) {
        const head = readHead(received);
        if (head !== undefined) {
          const end = head.end + bodyLength(head, toHead);
          if (received.length >= end) {
            const response = answerOf(head, received.subarray(head.end, end));
            received = received.subarray(end);
            return response;
          }
        }
        if (ended) throw new Error('The connection was closed without an answer.');
        await more();
      }
    },
    close: () => void socket.destroy(),
  };
}

interface RawRequest {
  readonly method?: string;
  /** The request target, byte for byte. */
  readonly target: string;
  readonly token?: string;
  /** Header lines without line ends; a Host is added unless one of them is given. */
  readonly headers?: readonly string[];
  readonly body?: string | Uint8Array;
}

export function writeRequest({ method = 'GET', target, token, headers = [], body }: RawRequest): Buffer {
  const bytes = Buffer.from(body ?? '');
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...(headers.some((line) => /^host:/i.test(line)) ? [] : ['Host: localhost']),
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ...(body === undefined || headers.some((line) => /^(content-length|transfer-encoding):/i.test(line))
      ? []
      : [`Content-Length: ${bytes.length}`]),
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes]);
}

/** Sends bytes over a separate connection, and returns the first response. */
export async function askRaw(
  port: number,
  bytes: string | Uint8Array,
  to?: { readonly head: boolean },
): Promise<RawAnswer> {
  const connection = await connectRaw(port);
  try {
    await connection.send(bytes);
    return await connection.response(to);
  } finally {
    connection.close();
  }
}

export const requestRaw = (port: number, request: RawRequest): Promise<RawAnswer> =>
  askRaw(port, writeRequest(request), { head: request.method === 'HEAD' });
