import { open } from 'node:fs/promises';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import { Refusal } from '../contract/response.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import type { Environment } from './context.ts';

export type OutputResponse = ReturnType<typeof sendOutput>;

/** A response in chunks. Each is sent after the previous one has left this process. The first sends the headers. */
export function sendOutput(
  outgoing: HttpBindings['outgoing'],
  headers: Readonly<Record<string, string>>,
  maxMsPerChunk: number,
  { disconnected, tooSlow }: Readonly<Partial<Record<'disconnected' | 'tooSlow', Error>>> = {},
) {
  const ending = new AbortController();
  const gone = ending.signal;
  outgoing.once('close', () => ending.abort(disconnected));
  if (outgoing.destroyed) ending.abort(disconnected);
  let sent = 0;

  const begin = (): void => {
    if (!outgoing.headersSent) outgoing.writeHead(200, headers);
  };

  /** Closes the connection, so that the client sees that the response is incomplete. */
  const cut = (reason?: Error): void => {
    ending.abort(reason);
    outgoing.destroy();
  };

  const written = (chunk: Buffer): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(cut, maxMsPerChunk, tooSlow);
      const proceed = (): void => {
        clearTimeout(timer);
        outgoing.off('close', proceed);
        resolve();
      };
      outgoing.once('close', proceed).write(chunk, proceed);
    });

  return {
    /** Aborted when the response is closed, for example because the client disconnected. The reason says why. */
    gone,
    sentBytes: (): number => sent,
    cut,
    /** Resolves when the chunk has left this process or the client has disconnected. The first sends the headers. */
    async write(chunk: Buffer): Promise<void> {
      if (gone.aborted) return;
      begin();
      sent += chunk.length;
      await written(chunk);
    },
    end(): void {
      if (gone.aborted) return;
      begin();
      outgoing.end();
    },
  };
}

const chunkBytes = 64 * 1_024;

/** Time limit per chunk: a client that stops reading must not keep resources from others. */
const defaultMaxMsPerChunk = 60_000;

/** Chunks that are read in parallel are also sent together, which delays requests for locks. */
const limitReads = limitParallel({ max: 4 });

export interface FileResponse {
  readonly path: string;
  readonly range: ByteRange;
  readonly status: 200 | 206;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Sends a range of a file in chunks, as fast as the client reads them. `ended` resolves when everything has been sent,
 * or the client has disconnected. Then the file is closed.
 */
export async function sendFile(
  { env: { outgoing } }: Context<Environment>,
  { path, range: { start, end }, status, headers }: FileResponse,
  maxMsPerChunk = defaultMaxMsPerChunk,
) {
  const file = await open(path, 'r');
  if (outgoing.destroyed) {
    await file.close();
    throw new Refusal('request-timeout', 'The client has disconnected.');
  }
  const length = end - start;
  outgoing.writeHead(status, { ...headers, 'content-length': String(length) });
  const response = sendOutput(outgoing, {}, maxMsPerChunk);
  // One buffer for all chunks. A new one for each chunk would create megabytes of garbage.
  const bytes = Buffer.allocUnsafeSlow(Math.min(chunkBytes, length));

  async function sendAll(): Promise<void> {
    try {
      for (let position = start; position < end && !response.gone.aborted; ) {
        const wanted = Math.min(bytes.length, end - position);
        const { bytesRead } = await limitReads('', () => file.read(bytes, 0, wanted, position));
        // The file was truncated. Cutting the connection shows the client that the response is incomplete.
        if (bytesRead === 0) return response.cut();
        position += bytesRead;
        await response.write(bytes.subarray(0, bytesRead));
      }
      response.end();
    } catch {
      response.cut();
    } finally {
      await file.close();
    }
  }
  return { response: RESPONSE_ALREADY_SENT, ended: sendAll() };
}

/** The offset of the first byte, and the offset after the last. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The single range of a Range header (RFC 9110 section 14.2) that has a first byte. For any other header, or a range
 * past the end, returns the complete file, as that section allows.
 */
export function parseByteRange(header: string, size: number): ByteRange {
  const [, first, last = ''] = /^bytes=(\d{1,15})-(\d{0,15})$/i.exec(header) ?? [];
  const start = Number(first ?? 0);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  return first === undefined || start >= end ? { start: 0, end: size } : { start, end };
}
