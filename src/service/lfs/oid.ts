import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

declare const brand: unique symbol;

/** Id of an object: the SHA-256 of its content in lower-case hexadecimal, which is also the name of its file. */
export type Oid = string & { readonly [brand]: 'Oid' };

export interface ObjectName {
  readonly oid: Oid;
  /** Bytes. */
  readonly size: number;
}

const pattern = /^[0-9a-f]{64}$/;

export function parseOid(text: string): Parsed<Oid> {
  // The brand exists only at compile time.
  return pattern.test(text) ? accepted(text as Oid) : refused('An object id must be 64 lower-case hexadecimal digits.');
}
