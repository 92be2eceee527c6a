import { setImmediate } from 'node:timers/promises';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

/** A request to git-upload-pack, with the parts that the service needs. */
export interface UploadPackRequest {
  /** Ids of the requested objects. Empty if the request only lists branches. */
  readonly wants: readonly string[];
  readonly bytes: Buffer;
}

/** gitprotocol-common(5): four hexadecimal digits with the length of the packet, including themselves. */
const headerLength = 4;

/** Precedes the first response in all versions except 2: `smart_reply` in gitprotocol-http(5). */
export const serviceHeader = Buffer.concat([packet('# service=git-upload-pack\n'), Buffer.from('0000')]);

/** Packets 0000, 0001 and 0002 have no content: they delimit or end a request. */
const maxDivider = 2;

/** `want ID` in gitprotocol-v2(5). In gitprotocol-pack(5), capabilities follow the first id. */
const wantedId = /^want ([0-9a-f]{40}(?:[0-9a-f]{24})?)(?![0-9a-f])/i;

/** `command` in gitprotocol-v2(5), without `object-info`, which reveals whether any object exists. */
const served = new Set(['command=ls-refs', 'command=fetch']);

/** Packets between yields: a checkout of a partial clone can request hundreds of thousands of objects at once. */
const packetsPerStep = 2_000;

/** Yields between steps, so that other work can run. */
export async function parseUploadPackRequest(bytes: Buffer): Promise<Parsed<UploadPackRequest>> {
  const wants = new Set<string>();
  let packets = 0;
  let next: number;
  for (let at = 0; at < bytes.length; at = next) {
    const header = bytes.toString('latin1', at, at + headerLength);
    const length = /^[0-9a-f]{4}$/i.test(header) ? Number.parseInt(header, 16) : Number.NaN;
    next = at + (length <= maxDivider ? headerLength : length);
    const isComplete = next >= at + headerLength && next <= bytes.length;
    if (!isComplete) return malformed(`the packet at byte ${at} is incomplete`);
    packets += 1;
    if (packets % packetsPerStep === 0) await setImmediate();
    const content = at + headerLength;
    const text = bytes.toString('latin1', content, Math.min(content + 80, next));
    if (text.startsWith('command=') && !served.has(text.replace(/\n$/, ''))) {
      return refused('The mirror supports only the commands ls-refs and fetch.');
    }
    if (!text.startsWith('want')) continue;
    const [, id] = wantedId.exec(text) ?? [];
    if (id === undefined) return malformed(`the packet at byte ${at} has no valid object id`);
    wants.add(id.toLowerCase());
  }
  return accepted({ wants: [...wants], bytes });
}

/** Error that git shows to its user: `error-line` in gitprotocol-pack(5). */
export const errorPacket = (message: string): Buffer => packet(`ERR ${message}`);

const malformed = (reason: string): Parsed<never> =>
  refused(`The request is not valid for git-upload-pack: ${reason}.`);

function packet(text: string): Buffer {
  const content = Buffer.from(text);
  return Buffer.concat([
    Buffer.from((content.length + headerLength).toString(16).padStart(headerLength, '0')),
    content,
  ]);
}
