import type { ServerResponse } from 'node:http';

export interface OutputResponse {
  /** Aborted when nobody reads the answer any more. */
  readonly gone: AbortSignal;
  readonly sentBytes: () => number;
  /** For how long its client has kept it waiting, in all. */
  readonly waitedMs: () => number;
  readonly isTooSlow: () => boolean;
  /** Cuts it because its client is too slow, as happens by itself if a piece takes too long. */
  readonly cutAsTooSlow: () => void;
  /** Kept when the chunk has left this process, or the client is gone. The answer begins with the first. */
  readonly write: (chunk: Buffer) => Promise<void>;
  readonly end: () => void;
  /** So that nobody takes the part that was sent for all of it. */
  readonly cut: () => void;
}

/**
 * An answer that is written piece by piece, each when the one before has left the memory of this process. It is a 200 with
 * these headers, unless its head was written before.
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
      const goOn = (): void => {
        clearTimeout(timer);
        waitedMs += waitingMs();
        waitingSince = undefined;
        outgoing.off('close', goOn);
        resolve();
      };
      outgoing.once('close', goOn).write(chunk, goOn);
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
