import { type FileHandle, open } from 'node:fs/promises';
import type { Context } from 'hono';
import { Refusal } from '../contract/problem.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import type { ByteRange } from './byte-range.ts';
import type { Environment } from './context.ts';

const chunkBytes = 64 * 1_024;

/** A client that takes no chunk for so long keeps others from theirs. */
const usualMaxMsPerChunk = 60_000;

/** What is read at the same time is sent one right after the other, and requests for locks wait meanwhile. */
const inTurn = limitParallel({ max: 4 });

/** Read when the client has taken what was read before. */
const chunksOf = (file: FileHandle, { start, end }: ByteRange, onRead: () => void): ReadableStream<Uint8Array> => {
  let position = start;
  return new ReadableStream(
    {
      async pull(controller) {
        onRead();
        const bytes = Buffer.allocUnsafe(Math.min(chunkBytes, end - position));
        const { bytesRead } = await inTurn('', () => file.read(bytes, 0, bytes.length, position));
        if (bytesRead === 0) throw new Error('The file is shorter than it was when its answer began.');
        position += bytesRead;
        controller.enqueue(bytes.subarray(0, bytesRead));
        if (position === end) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
};

export interface FileAnswer {
  readonly path: string;
  readonly range: ByteRange;
  readonly status: 200 | 206;
  readonly headers: Readonly<Record<string, string>>;
}

export interface BegunAnswer {
  readonly response: Response;
  /** Fulfilled when the client has all of it, or is gone. The file is closed then. */
  readonly ended: Promise<void>;
}

/** Answers with a part of a file, in chunks, as fast as the client takes them. */
export async function sendFile(
  { env: { outgoing } }: Context<Environment>,
  { path, range, status, headers }: FileAnswer,
  maxMsPerChunk = usualMaxMsPerChunk,
): Promise<BegunAnswer> {
  const file = await open(path, 'r');
  if (outgoing.destroyed) {
    await file.close();
    throw new Refusal('request-timeout', 'The client has gone.');
  }
  const tooSlow = setTimeout(() => outgoing.destroy(), maxMsPerChunk);
  const ended = new Promise<void>((resolve) => {
    outgoing.once('close', resolve);
  }).then(() => {
    clearTimeout(tooSlow);
    return file.close();
  });
  const length = range.end - range.start;
  const body = length === 0 ? null : chunksOf(file, range, () => tooSlow.refresh());
  return { response: new Response(body, { status, headers: { ...headers, 'content-length': String(length) } }), ended };
}
