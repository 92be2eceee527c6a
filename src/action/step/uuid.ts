import { closeSync, openSync, readSync } from 'node:fs';

const versionByte = 6;
const variantByte = 8;

/** A random UUID (RFC 9562, section 5.4). Node's own takes a seventh as long as starting Node, because it loads crypto. */
export function randomUuid(): string {
  const bytes = randomBytes();
  if (bytes === undefined) return crypto.randomUUID();
  bytes.writeUInt8((bytes.readUInt8(versionByte) & 0x0f) | 0x40, versionByte);
  bytes.writeUInt8((bytes.readUInt8(variantByte) & 0x3f) | 0x80, variantByte);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Undefined on a system without this file, such as Windows. */
function randomBytes(): Buffer | undefined {
  try {
    const file = openSync('/dev/urandom', 'r');
    try {
      const bytes = Buffer.alloc(16);
      return readSync(file, bytes) === bytes.length ? bytes : undefined;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}
