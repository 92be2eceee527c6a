import type { Git } from '../../git/git.ts';
import type { Limits } from '../../git/run-git.ts';
import type { SmallBlobs } from '../../git/small-blobs.ts';
import type { ObjectStore } from '../object-store.ts';
import type { ObjectName } from '../oid.ts';
import { parsePointer, pointersBelowBytes } from '../pointer.ts';

export interface PointedObject extends ObjectName {
  /** Path of one of the files with this content. */
  readonly path: string;
}

/**
 * Objects named by the pointers of a commit. A file in the format of a pointer is one, whatever `.gitattributes` says.
 */
export async function pointedObjects(
  git: Pick<Git, 'smallBlobs'>,
  workspace: string,
  commit: Omit<SmallBlobs, 'belowBytes'>,
  limits: Limits,
): Promise<readonly PointedObject[]> {
  const found = new Map<string, PointedObject>();
  await git.smallBlobs(workspace, { ...commit, belowBytes: pointersBelowBytes }, limits, ({ path, content }) => {
    const pointer = parsePointer(content.toString('latin1'));
    // If two pointers to an object differ in size, one is wrong: it must not prevent the other from being fetched.
    if (pointer !== undefined) found.set(`${pointer.oid} ${pointer.size}`, { ...pointer, path });
  });
  return [...found.values()];
}

/** Number of parallel file lookups. */
const lookedForAtOnce = 64;

/** Objects of the pointers that are missing from the mirror. */
export async function lackingObjects(
  objects: ObjectStore,
  pointed: readonly PointedObject[],
): Promise<readonly PointedObject[]> {
  const lacking: PointedObject[] = [];
  for (let at = 0; at < pointed.length; at += lookedForAtOnce) {
    const some = pointed.slice(at, at + lookedForAtOnce);
    const found = await Promise.all(some.map(({ oid }) => objects.use(oid)));
    lacking.push(...some.filter((_, index) => found[index] === undefined));
  }
  return lacking;
}
