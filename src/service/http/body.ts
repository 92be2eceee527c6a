import type { IncomingMessage } from 'node:http';
import type { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { parseRequestPart, Refusal } from '../contract/response.ts';
import type { Environment } from './context.ts';

export const isForm = (contentType: string): boolean =>
  /^application\/x-www-form-urlencoded *(?:;|$)/i.test(contentType);

const maxRequestBodyBytes = 1024 * 1024;

/** For optional bodies: a missing body becomes an empty object. */
export const readOptionalBody = async <Body>(c: Context<Environment>, schema: z.ZodType<Body>): Promise<Body> =>
  parseRequestPart(schema, hasBody(c.env.incoming) ? await readJson(c) : {});

/** Reads the body once, without repairing it, so that validators see the original. */
export async function readJson(c: Context<Environment>, maxBytes = maxRequestBodyBytes): Promise<unknown> {
  if (!isJson(c.req.header('content-type') ?? '')) {
    throw new Refusal('unsupported-media-type', 'Send the request body as "Content-Type: application/json".');
  }
  if (!isPlain(c.req.header('content-encoding') ?? '')) {
    throw new Refusal('unsupported-media-type', 'Send the request body without a Content-Encoding.', {
      headers: { 'accept-encoding': 'identity' },
    });
  }
  const text = await readText(c.env.incoming, maxBytes);
  c.set('bodyText', text);
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal('malformed-request', 'The request body is not valid JSON.');
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Keeps a byte order mark, so that JSON parsing rejects it: RFC 8259 section 8.1 does not allow one. */
export async function readText(incoming: IncomingMessage, maxBytes: number): Promise<string> {
  const bytes = await readBytes(incoming, maxBytes);
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw new Refusal('malformed-request', 'The request body is not valid UTF-8.');
  }
}

export async function readBytes(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  await forEachPiece(incoming, maxBytes, (piece) => pieces.push(piece));
  return Buffer.concat(pieces);
}

/** Reads a body in pieces, without keeping it. */
export async function forEachPiece(
  incoming: IncomingMessage,
  maxBytes: number,
  onPiece: (piece: Buffer) => void,
): Promise<void> {
  if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  // The client disconnected, or the request timeout of the server expired.
  const cutOff = () => new Refusal('request-timeout', 'The request body did not arrive in full.');
  if (incoming.destroyed) throw cutOff();
  await new Promise<void>((resolve, reject) => {
    let size = 0;
    function read(piece: Buffer): void {
      size += piece.length;
      try {
        if (size > maxBytes) throw tooLarge(maxBytes);
        onPiece(piece);
      } catch (error) {
        // Reads and discards the rest, because some clients read nothing before they have sent everything.
        incoming.off('data', read).resume();
        reject(error);
      }
    }
    incoming.on('data', read).once('end', resolve);
    incoming.once('close', () => {
      if (!incoming.readableEnded) reject(cutOff());
    });
  });
}

export const tooLarge = (maxBytes: number): Refusal =>
  new Refusal('body-too-large', `The request body must not be larger than ${maxBytes} bytes.`);

export const isJson = (contentType: string): boolean => /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i.test(contentType);

/** RFC 9110 section 8.4: an unsupported coding gets its own error, instead of "not valid JSON". */
const isPlain = (contentEncoding: string): boolean => /^(?:identity)?$/i.test(contentEncoding);

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
