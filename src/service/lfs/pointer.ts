import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { Git } from '../git/git.ts';
import type { Limits } from '../git/run-git.ts';

export interface ReferencedObject extends ObjectName {
  /** Path of one of the files with this content. */
  readonly path: string;
}

/** The objects that pointers in a commit name. Any file in that format is a pointer, regardless of `.gitattributes`. */
export async function referencedObjects(
  git: Pick<Git, 'smallBlobs'>,
  workspace: string,
  commit: string,
  limits: Limits,
): Promise<readonly ReferencedObject[]> {
  const found = new Map<string, ReferencedObject>();
  await git.smallBlobs(workspace, commit, limits, (path, content) => {
    const pointer = parsePointer(content.toString('latin1'));
    // If two pointers disagree on the size of an object, one is wrong, and must not prevent fetching the other.
    if (pointer !== undefined) found.set(`${pointer.oid} ${pointer.size}`, { ...pointer, path });
  });
  return [...found.values()];
}

/** 1 TiB. A pointer to a larger file is not accepted, because anyone with push access can write any number. */
const maxObjectBytes = 2 ** 40;

/** See https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md. Includes the URL that versions before 1.0 wrote. */
const form =
  /^version https:\/\/(?:git-lfs|hawser)\.github\.com\/spec\/v1\n(?:ext-\d-[a-z0-9.-]{1,64} sha256:[0-9a-f]{64}\n){0,10}oid sha256:([0-9a-f]{64})\nsize ([1-9]\d{0,15})\n?$/;

/** The object that a pointer file names. Undefined for other files, and for an empty object, which nobody downloads. */
export function parsePointer(text: string): ObjectName | undefined {
  const [, hash = '', digits = ''] = form.exec(text) ?? [];
  const [oid, size] = [parseOid(hash), Number(digits)];
  return oid.ok && size <= maxObjectBytes ? { oid: oid.value, size } : undefined;
}

declare const brand: unique symbol;

/** Id of an object, and name of its file: the SHA-256 of its content in lower-case hexadecimal. */
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
