import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Refusal } from '../contract/problem.ts';
import type { GitProtocol } from '../git/serve-mirror.ts';
import { parseUploadPackRequest, type UploadPackRequest } from '../git/upload-pack-request.ts';
import { type BodyLimit, readBytes, tooLarge } from '../http/body.ts';

/** Enough for about 200,000 ids of objects that a client has or wants. */
const limit: BodyLimit = { maxBytes: 10 * 1_024 * 1_024, subject: 'A request of git' };

interface ReadOptions {
  readonly maxMs: number;
  /** Called with the memory that the request needs. Throws to refuse the request. */
  readonly take: (bytes: number) => void;
}

/** Reads a request as defined in gitprotocol-http(5), "Smart Service git-upload-pack". */
export async function readUploadPackRequest(
  incoming: IncomingMessage,
  { maxMs, take }: ReadOptions,
): Promise<UploadPackRequest> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = incoming.headers;
  if (type !== 'application/x-git-upload-pack-request') {
    throw new Refusal('unsupported-media-type', 'The Content-Type must be application/x-git-upload-pack-request.');
  }
  const isZipped = /^(?:x-)?gzip$/i.test(encoding);
  if (!isZipped && encoding.toLowerCase() !== 'identity') {
    throw new Refusal('unsupported-media-type', 'Send the request without a Content-Encoding, or with gzip.', {
      headers: { 'accept-encoding': 'gzip, identity' },
    });
  }
  let bytes = await readBytes(incoming, { ...limit, maxMs, onChunk: take });
  if (isZipped) {
    bytes = await unzipped(bytes);
    take(bytes.length);
  }
  const request = await inSteps(parseUploadPackRequest(bytes));
  if (!request.ok) throw new Refusal('malformed-request', request.reason);
  return request.value;
}

/** Only the version of the protocol header is passed to git. */
export function protocolOf({ headers }: IncomingMessage): GitProtocol {
  const { 'git-protocol': asked = '' } = headers;
  const [, version] = /(?:^|:)version=([12])(?:$|:)/.exec(String(asked)) ?? [];
  return version === undefined ? undefined : version === '2' ? 'version=2' : 'version=1';
}

const unzip = promisify(gunzip);

async function unzipped(bytes: Buffer): Promise<Buffer> {
  try {
    return await unzip(bytes, { maxOutputLength: limit.maxBytes });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    throw new Refusal('malformed-request', 'The body is not valid gzip, although its Content-Encoding says so.');
  }
}

/** Yields to other work between two steps. */
async function inSteps<T>(work: Iterator<void, T>): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    await setImmediate();
  }
}
