import { open } from 'node:fs/promises';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import { Refusal } from '../contract/problem.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import type { ByteRange } from './byte-range.ts';
import type { Environment } from './context.ts';
import { sendOutput } from './send-output.ts';

const chunkBytes = 64 * 1_024;

/** Time limit for a chunk: a client that stops reading must not keep resources from others. */
const defaultMaxMsPerChunk = 60_000;

/** Chunks that are read in parallel are also sent together, and requests for locks wait meanwhile. */
const limitReads = limitParallel({ max: 4 });

export interface FileResponse {
  readonly path: string;
  readonly range: ByteRange;
  readonly status: 200 | 206;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Sends a range of a file in chunks, as fast as the client reads them. `ended` is fulfilled when everything has been
 * sent, or the client has disconnected. The file is closed then.
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
  // One buffer for all chunks: a new one for each would create megabytes of garbage.
  const bytes = Buffer.allocUnsafeSlow(Math.min(chunkBytes, length));

  async function sendAll(): Promise<void> {
    try {
      for (let position = start; position < end && !response.gone.aborted; ) {
        const wanted = Math.min(bytes.length, end - position);
        const { bytesRead } = await limitReads('', () => file.read(bytes, 0, wanted, position));
        // The file has been truncated. Cut the connection, so that the client sees that the response is incomplete.
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
