import type { ServerResponse } from 'node:http';

export interface OutputResponse {
  /** Aborted when the response is closed, such as when the client disconnects. */
  readonly gone: AbortSignal;
  readonly sentBytes: () => number;
  /** Total time spent waiting for the client to read. */
  readonly waitedMs: () => number;
  readonly isTooSlow: () => boolean;
  /** Cuts the response because the client is too slow. Happens automatically if a chunk takes too long. */
  readonly cutAsTooSlow: () => void;
  /**
   * Fulfilled when the chunk has left this process, or the client has disconnected. The first one sends the headers.
   */
  readonly write: (chunk: Buffer) => Promise<void>;
  readonly end: () => void;
  /** Closes the connection, so that the client sees that the response is incomplete. */
  readonly cut: () => void;
}

/**
 * A response that is written in chunks, each after the previous one has left the memory of this process. Sends status
 * 200 and these headers with the first chunk, unless a head was written before.
 */
export function sendOutput(
  outgoing: ServerResponse,
  headers: Readonly<Record<string, string>>,
  maxMsPerPiece: number,
): OutputResponse {
  const gone = new AbortController();
  let sent = 0;
  let tooSlow = false;
  let waitedMs = 0;
  let waitingSince: number | undefined;
  outgoing.once('close', () => gone.abort());
  if (outgoing.destroyed) gone.abort();

  const begin = (): void => {
    if (!outgoing.headersSent) outgoing.writeHead(200, headers);
  };

  const cutAsTooSlow = (): void => {
    tooSlow = true;
    outgoing.destroy();
  };

  const waitingMs = (): number => (waitingSince === undefined ? 0 : performance.now() - waitingSince);

  const written = (chunk: Buffer): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(cutAsTooSlow, maxMsPerPiece);
      waitingSince = performance.now();
      const proceed = (): void => {
        clearTimeout(timer);
        waitedMs += waitingMs();
        waitingSince = undefined;
        outgoing.off('close', proceed);
        resolve();
      };
      outgoing.once('close', proceed).write(chunk, proceed);
    });

  return {
    gone: gone.signal,
    sentBytes: () => sent,
    waitedMs: () => waitedMs + waitingMs(),
    isTooSlow: () => tooSlow,
    cutAsTooSlow,
    async write(chunk) {
      if (gone.signal.aborted) return;
      begin();
      sent += chunk.length;
      await written(chunk);
    },
    end() {
      if (gone.signal.aborted) return;
      begin();
      outgoing.end();
    },
    cut: () => void outgoing.destroy(),
  };
}
