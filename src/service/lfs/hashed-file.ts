import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { withFolderOf } from '../platform/missing-file.ts';

const bytesPerWrite = 512 * 1_024;

/** Opens a file to append to it, and hashes its present bytes. More than `maxLength` bytes are damaged, and discarded. */
export async function openHashedFile(path: string, maxLength: number) {
  const file = await withFolderOf(path, () => open(path, constants.O_RDWR | constants.O_CREAT, 0o600));
  let hash = createHash('sha256');
  let length = 0;
  let writtenLength = 0;
  /** Chunks are collected and written together. */
  let unwritten: Uint8Array[] = [];

  async function clear(): Promise<void> {
    await file.truncate(0);
    hash = createHash('sha256');
    length = 0;
    writtenLength = 0;
    unwritten = [];
  }

  async function flush(): Promise<void> {
    const [pieces, position, bytes] = [unwritten, writtenLength, length - writtenLength];
    if (bytes === 0) return;
    unwritten = [];
    writtenLength = length;
    const { bytesWritten } = await file.writev(pieces, position);
    if (bytesWritten < bytes) throw Object.assign(new Error('Not all of it was written.'), { code: 'ENOSPC' });
  }

  async function readPresent(): Promise<void> {
    const { size } = await file.stat();
    if (size > maxLength) return clear();
    if (size === 0) return;
    for await (const bytes of file.createReadStream({ start: 0, autoClose: false })) {
      hash.update(bytes);
      length += bytes.length;
    }
    writtenLength = length;
  }

  await readPresent().catch(async (error: unknown) => {
    await file.close();
    throw error;
  });
  return {
    get length(): number {
      return length;
    },
    async append(bytes: Uint8Array): Promise<void> {
      if (length + bytes.length > maxLength) throw new RangeError('These are more bytes than the object has.');
      hash.update(bytes);
      unwritten.push(bytes);
      length += bytes.length;
      if (length - writtenLength >= bytesPerWrite) await flush();
    },
    clear,
    flush,
    /** The file cannot be appended to afterwards. */
    hash: (): string => hash.digest('hex'),
    sync: (): Promise<void> => flush().then(() => file.sync()),
    /** Bytes that were not flushed are lost. */
    close: (): Promise<void> => file.close(),
  };
}
