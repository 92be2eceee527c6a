import { isArray, isObject, type Json, nameIn } from '../../client/json.ts';

/** A file as GitHub lists it, whether it was changed, added or removed. */
export interface ListedFile {
  readonly name: string;
  /** What it was called before, if it was renamed. */
  readonly before: string | undefined;
}

function readFile(entry: Json): ListedFile | undefined {
  if (!isObject(entry)) return undefined;
  const name = nameIn(entry['filename']);
  // Of a copy the original stays as it is.
  const before = entry['status'] === 'copied' ? undefined : nameIn(entry['previous_filename']);
  return name === undefined ? undefined : { name, before };
}

/** A list with an entry that cannot be read is no list: what is not seen cannot be looked up. */
export function readFiles(list: Json | undefined): readonly ListedFile[] {
  const files = isArray(list) ? list.map(readFile) : [undefined];
  if (!files.every((file) => file !== undefined)) throw new Error('GitHub gave a list of files that cannot be read.');
  return files;
}
