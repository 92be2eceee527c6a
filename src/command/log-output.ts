import { fstatSync, writeSync } from 'node:fs';

export interface Output {
  write(text: string): void;
  /** Width of the terminal; undefined if the output is not a terminal. */
  readonly columns?: number | undefined;
}

/**
 * An output for the log whose errors do not end the service, such as a closed pipe or a full disk. When there is space
 * again, Node's own stream would continue in the middle of a line.
 */
export function logOutput(stream: NodeJS.WriteStream, fd: number): Output {
  if (isFile(fd)) return lastingFile(fd);
  stream.on('error', () => undefined);
  return stream;
}

/** Returns the number of bytes written. */
type Write = (fd: number, bytes: Buffer, from: number) => number;

const lineEnd = '\n'.charCodeAt(0);

/** Appends lines to a file. A full disk loses text, but the next text starts on a new line. */
export function lastingFile(fd: number, write: Write = writeSync): Output {
  let lastByte = lineEnd;
  return {
    write(text) {
      const bytes = Buffer.from(lastByte === lineEnd ? text : `\n${text}`);
      let written = 0;
      try {
        while (written < bytes.length) written += write(fd, bytes, written);
      } catch {
        // The log itself has failed, so the error cannot be reported.
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
