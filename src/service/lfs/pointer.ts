import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { Git } from '../git/git.ts';
import type { Limits } from '../git/run-git.ts';

export interface ReferencedObject extends ObjectName {
  /** Path of one of the files with this content. */
  readonly path: string;
}

/**
 * Objects named by the pointers of a commit. A file in the format of a pointer is one, whatever `.gitattributes` says.
 */
export async function referencedObjects(
  git: Pick<Git, 'smallBlobs'>,
  workspace: string,
  commit: string,
  limits: Limits,
): Promise<readonly ReferencedObject[]> {
  const found = new Map<string, ReferencedObject>();
  await git.smallBlobs(workspace, commit, limits, (path, content) => {
    const pointer = parsePointer(content.toString('latin1'));
    // If two pointers to an object differ in size, one is wrong: it must not prevent the other from being fetched.
    if (pointer !== undefined) found.set(`${pointer.oid} ${pointer.size}`, { ...pointer, path });
  });
  return [...found.values()];
}

/** 1 TiB. A file with a larger size is not accepted as a pointer: everyone with push access can write any number. */
const maxObjectBytes = 2 ** 40;

/** https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md, and the URL that versions before 1.0 wrote. */
const form =
  /^version https:\/\/(?:git-lfs|hawser)\.github\.com\/spec\/v1\n(?:ext-\d-[a-z0-9.-]{1,64} sha256:[0-9a-f]{64}\n){0,10}oid sha256:([0-9a-f]{64})\nsize ([1-9]\d{0,15})\n?$/;

/** The object of a pointer file; undefined for any other file, and for an empty object, which nobody downloads. */
export function parsePointer(text: string): ObjectName | undefined {
  const [, hash = '', digits = ''] = form.exec(text) ?? [];
  const [oid, size] = [parseOid(hash), Number(digits)];
  return oid.ok && size <= maxObjectBytes ? { oid: oid.value, size } : undefined;
}

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
