import { writeSync } from 'node:fs';

const stdoutFd = 1;

/**
 * Writes the complete text without loading streams. Without a reader, the step goes on: it may hold locks.
 * @param {string} text
 */
export function writeOut(text) {
  let bytes = Buffer.from(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(stdoutFd, bytes));
    } catch (error) {
      // The pipe is full, and does not block.
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) return;
    }
  }
}
