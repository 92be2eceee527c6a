import type { HttpBindings } from '@hono/node-server';
import { disconnection } from './context.ts';

export type OutputResponse = ReturnType<typeof sendOutput>;

/** A response in chunks, each sent after the previous one has left this process. The first one sends the head. */
export function sendOutput(
  outgoing: HttpBindings['outgoing'],
  headers: Readonly<Record<string, string>>,
  maxMsPerChunk: number,
) {
  const gone = disconnection({ outgoing });
  let sent = 0;
  let cutReason: 'too-slow' | 'refused' | undefined;

  const begin = (): void => {
    if (!outgoing.headersSent) outgoing.writeHead(200, headers);
  };

  /** Closes the connection, so that the client sees that the response is incomplete. */
  const cut = (reason?: typeof cutReason): void => {
    cutReason ??= reason;
    outgoing.destroy();
  };

  const written = (chunk: Buffer): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(cut, maxMsPerChunk, 'too-slow');
      const proceed = (): void => {
        clearTimeout(timer);
        outgoing.off('close', proceed);
        resolve();
      };
      outgoing.once('close', proceed).write(chunk, proceed);
    });

  return {
    /** Aborted when the response is closed, such as when the client disconnects. */
    gone,
    sentBytes: (): number => sent,
    cut,
    /** Also set if a chunk took too long. */
    cutReason: () => cutReason,
    /** Fulfilled when the chunk has left this process, or the client has disconnected. The first one sends the headers. */
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
