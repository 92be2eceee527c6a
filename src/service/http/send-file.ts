import { open } from 'node:fs/promises';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import { Refusal } from '../contract/problem.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import type { ByteRange } from './byte-range.ts';
import type { Environment } from './context.ts';
import { sendOutput } from './send-output.ts';

const chunkBytes = 64 * 1_024;

/** A client that takes no chunk for so long keeps others from theirs. */
const defaultMaxMsPerChunk = 60_000;

/** Chunks read at the same time are sent one right after the other, and requests for locks wait meanwhile. */
const limitReads = limitParallel({ max: 4 });

export interface FileResponse {
  readonly path: string;
  readonly range: ByteRange;
  readonly status: 200 | 206;
  readonly headers: Readonly<Record<string, string>>;
}

export interface StartedResponse {
  readonly response: Response;
  /** Fulfilled when the client has all of it, or is gone. The file is closed then. */
  readonly ended: Promise<void>;
}

/** Answers with a part of a file, in chunks, as fast as the client takes them. */
export async function sendFile(
  { env: { outgoing } }: Context<Environment>,
  { path, range: { start, end }, status, headers }: FileResponse,
  maxMsPerChunk = defaultMaxMsPerChunk,
): Promise<StartedResponse> {
  const file = await open(path, 'r');
  if (outgoing.destroyed) {
    await file.close();
    throw new Refusal('request-timeout', 'The client has gone.');
  }
  const length = end - start;
  outgoing.writeHead(status, { ...headers, 'content-length': String(length) });
  const response = sendOutput(outgoing, {}, maxMsPerChunk);
  // One for all chunks: a new one for each would be megabytes of garbage.
  const bytes = Buffer.allocUnsafeSlow(Math.min(chunkBytes, length));

  async function sendAll(): Promise<void> {
    try {
      for (let position = start; position < end && !response.gone.aborted; ) {
        const wanted = Math.min(bytes.length, end - position);
        const { bytesRead } = await limitReads('', () => file.read(bytes, 0, wanted, position));
        // It is shorter than it was: nobody may take what was sent for all of it.
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
