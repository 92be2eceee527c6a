import { fstatSync, writeSync } from 'node:fs';

export interface Output {
  write(text: string): void;
  /** The width of a terminal; undefined if there is none. */
  readonly columns?: number | undefined;
}

/**
 * Where the log goes must not end the service, whatever happens there: the reader goes away, the disk is full. Node's
 * own stream would go on in the middle of a line when there is room again.
 */
export function logOutput(stream: NodeJS.WriteStream, fd: number): Output {
  if (isFile(fd)) return lastingFile(fd);
  stream.on('error', () => undefined);
  return stream;
}

/** Gives how many bytes it has written. */
type Write = (fd: number, bytes: Buffer, from: number) => number;

const lineEnd = '\n'.charCodeAt(0);

/** A file that lines are added to. What the disk has no room for is lost, and the next line begins as a line. */
export function lastingFile(fd: number, write: Write = writeSync): Output {
  let lastByte = lineEnd;
  return {
    write(text) {
      const bytes = Buffer.from(lastByte === lineEnd ? text : `\n${text}`);
      let written = 0;
      try {
        while (written < bytes.length) written += write(fd, bytes, written);
      } catch {
        // There is nowhere left to report it.
      }
      lastByte = bytes[written - 1] ?? lastByte;
    },
  };
}

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}
