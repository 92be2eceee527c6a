import type { IncomingMessage } from 'node:http';
import type { MiddlewareHandler } from 'hono';
import type { Environment } from './environment.ts';
import { Refusal } from './refusal.ts';

export const largestBody = 1024 * 1024;

const tooLarge = (): Refusal =>
  new Refusal('body-too-large', `A request body has at most ${largestBody} bytes.`, {
    headers: { connection: 'close' },
  });

async function readBytes(incoming: IncomingMessage): Promise<Buffer> {
  if (Number(incoming.headers['content-length'] ?? 0) > largestBody) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  // The stream is left open at the limit: destroying it would cut the connection before the answer is sent.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    if (!Buffer.isBuffer(chunk)) continue;
    size += chunk.length;
    if (size > largestBody) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw new Refusal('malformed-request', 'The request body is not valid UTF-8.');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal('malformed-request', 'The request body is not valid JSON.');
  }
}

const isJson = (contentType: string): boolean => /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i.test(contentType);

/** Reads the body once, strictly, so that the validators behind it see what was sent and nothing repaired. */
export const readJsonBody: MiddlewareHandler<Environment> = async (c, next) => {
  if (!isJson(c.req.header('content-type') ?? '')) {
    throw new Refusal('unsupported-media-type', 'Send the request body as "Content-Type: application/json".');
  }
  const text = decode(await readBytes(c.env.incoming));
  c.set('bodyText', text);
  // Where Hono keeps a body that has been read, for whoever asks for it next.
  c.req.bodyCache.json = Promise.resolve(parse(text));
  await next();
};
