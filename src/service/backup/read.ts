import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { damaged, type Header, parseHeader, unsupported } from './format.ts';

/**
 * Reads a backup to its end. May fail there if the backup is incomplete or damaged: the caller must then undo its work.
 */
export async function readBackup<T>(
  input: Readable,
  work: (header: Header, lines: AsyncIterable<string>) => Promise<T>,
): Promise<T> {
  try {
    return await pipeline(input, createGunzip(), async (bytes) => {
      const lines = linesOf(bytes);
      const first = await lines.next();
      return work(parseHeader(first.done ? '' : first.value), lines);
    });
  } catch (error) {
    throw asBackupError(error);
  }
}

/** Far longer than any row, because requests to the service are limited as well. */
const maxLineLength = 64 * 1_024 * 1_024;

async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let open: string[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
    open.push(first);
    length += first.length;
    if (length > maxLineLength) throw damaged('a line in it is too long');
    const last = others.pop();
    if (last === undefined) continue;
    yield open.join('');
    yield* others;
    open = [last];
    length = last.length;
  }
  if (length > 0) throw damaged('its last line is incomplete');
}

/** Converts errors of zlib for truncated and invalid input: https://www.zlib.net/manual.html */
function asBackupError(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  if (error.code === 'Z_BUF_ERROR') return damaged('its end is missing');
  if (error.code !== 'Z_DATA_ERROR') return error;
  return error.message === 'incorrect header check'
    ? unsupported()
    : damaged('its checksum or its compression is wrong');
}
