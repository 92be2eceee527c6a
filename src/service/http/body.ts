import type { IncomingMessage } from 'node:http';
import type { MiddlewareHandler } from 'hono';
import { Refusal } from '../contract/problem.ts';
import type { Environment } from './context.ts';

export const isForm = (contentType: string): boolean =>
  /^application\/x-www-form-urlencoded *(?:;|$)/i.test(contentType);

/** For optional bodies: a missing body counts as an empty object. */
export const readOptionalJsonBody: MiddlewareHandler<Environment> = async (c, next) => {
  if (hasBody(c.env.incoming)) return readJsonBody()(c, next);
  c.set('bodyText', '');
  c.set('body', {});
  await next();
};

const maxRequestBodyBytes = 1024 * 1024;

export interface BodyLimit {
  readonly maxBytes: number;
  /** The subject of the error message, such as "A request body". */
  readonly subject: string;
  /** Called with the size of each received chunk; may throw a refusal. */
  readonly onChunk?: (bytes: number) => void;
}

/** Reads the body once and strictly, so that validators see the original, not a repaired version. */
export const readJsonBody =
  (maxBytes = maxRequestBodyBytes): MiddlewareHandler<Environment> =>
  async (c, next) => {
    if (!isJson(c.req.header('content-type') ?? '')) {
      throw new Refusal('unsupported-media-type', 'Send the request body as "Content-Type: application/json".');
    }
    if (!isPlain(c.req.header('content-encoding') ?? '')) {
      throw new Refusal('unsupported-media-type', 'Send the request body without a Content-Encoding.', {
        headers: { 'accept-encoding': 'identity' },
      });
    }
    const text = await readText(c.env.incoming, { maxBytes, subject: 'A request body' });
    c.set('bodyText', text);
    try {
      c.set('body', JSON.parse(text));
    } catch {
      throw new Refusal('malformed-request', 'The request body is not valid JSON.');
    }
    await next();
  };

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Keeps a byte order mark, so that JSON parsing rejects it: RFC 8259 section 8.1 forbids one. */
export async function readText(incoming: IncomingMessage, limit: BodyLimit): Promise<string> {
  const bytes = await readBytes(incoming, limit);
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw new Refusal('malformed-request', 'The request body is not valid UTF-8.');
  }
}

export async function readBytes(incoming: IncomingMessage, limit: BodyLimit): Promise<Buffer> {
  const pieces: Buffer[] = [];
  await forEachPiece(incoming, limit, (piece) => {
    limit.onChunk?.(piece.length);
    pieces.push(piece);
  });
  return Buffer.concat(pieces);
}

/** Reads a body that need not be kept. */
export async function forEachPiece(
  incoming: IncomingMessage,
  limit: BodyLimit,
  onPiece: (piece: Buffer) => void,
): Promise<void> {
  if (Number(incoming.headers['content-length'] ?? 0) > limit.maxBytes) throw tooLarge(limit);
  try {
    // Leave the stream open at the limit: destroying it would close the connection before the response is sent.
    const pieces = incoming.iterator({ destroyOnReturn: false });
    let size = 0;
    for await (const piece of pieces) {
      size += piece.length;
      if (size > limit.maxBytes) throw tooLarge(limit);
      onPiece(piece);
    }
  } catch (error) {
    // Read and discard the rest: some clients send everything before they read.
    incoming.resume();
    if (error instanceof Refusal) throw error;
    // The client disconnected, or the request timeout of the server was reached.
    throw new Refusal('request-timeout', 'The request body did not arrive in full.');
  }
}

export const tooLarge = ({ subject, maxBytes }: BodyLimit): Refusal =>
  new Refusal('body-too-large', `${subject} must not be larger than ${maxBytes} bytes.`);

export const isJson = (contentType: string): boolean => /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i.test(contentType);

/** RFC 9110 section 8.4: an unsupported coding gets its own error, instead of "not valid JSON". */
const isPlain = (contentEncoding: string): boolean => /^(?:identity)?$/i.test(contentEncoding);

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
