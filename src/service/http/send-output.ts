import type { ServerResponse } from 'node:http';

export interface OutputAnswer {
  /** Aborted when nobody reads the answer any more. */
  readonly gone: AbortSignal;
  readonly sentBytes: () => number;
  /** Its client took less than a piece of the answer in the time that it has for one. */
  readonly isTooSlow: () => boolean;
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
): OutputAnswer {
  const gone = new AbortController();
  let sent = 0;
  let tooSlow = false;
  outgoing.once('close', () => gone.abort());
  if (outgoing.destroyed) gone.abort();

  const begin = (): void => {
    if (!outgoing.headersSent) outgoing.writeHead(200, headers);
  };

  const written = (chunk: Buffer): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => {
        tooSlow = true;
        outgoing.destroy();
      }, maxMsPerPiece);
      const goOn = (): void => {
        clearTimeout(timer);
        outgoing.off('close', goOn);
        resolve();
      };
      outgoing.once('close', goOn).write(chunk, goOn);
    });

  return {
    gone: gone.signal,
    sentBytes: () => sent,
    isTooSlow: () => tooSlow,
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
