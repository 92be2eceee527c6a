import { createHash } from 'node:crypto';

/** Bytes that do not compress, as those of an asset, and are the same every time. */
export const incompressible = (size: number, seed = ''): Buffer =>
  Buffer.concat(
    Array.from({ length: size / 64 }, (_, block) => createHash('sha512').update(`${seed} ${block}`).digest()),
  );
