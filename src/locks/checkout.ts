import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

export type Checkout = ReturnType<typeof openCheckout>;

/** The files of a checkout. Reads only folders along the requested paths, each once. */
export function openCheckout(folder: string) {
  const listings = new Map<string, ReadonlyMap<string, Dirent>>();

  function listingOf(at: string): ReadonlyMap<string, Dirent> {
    const known = listings.get(at);
    if (known !== undefined) return known;
    // File systems store names composed (é) or decomposed (e and an accent).
    const listing = new Map(entriesIn(at).map((entry) => [entry.name.normalize('NFC'), entry]));
    listings.set(at, listing);
    return listing;
  }

  /** Lists the last folder of a path, with the folder names as the file system spells them. */
  function listingAlong(names: readonly string[]): ReadonlyMap<string, Dirent> {
    let at = folder;
    for (const name of names) {
      const entry = listingOf(at).get(name);
      if (entry === undefined) return new Map();
      at = join(at, entry.name);
    }
    return listingOf(at);
  }

  return {
    folder,
    isEmpty: (): boolean => listingOf(folder).size === 0,
    /** Compares names exactly, even if the file system ignores case. */
    find(path: string): 'file' | 'folder' | undefined {
      const names = path.normalize('NFC').split('/');
      const entry = listingAlong(names.slice(0, -1)).get(names.at(-1) ?? '');
      if (entry === undefined) return undefined;
      return isFolder(entry) ? 'folder' : 'file';
    },
    /** The composed (NFC) names in a folder. Empty if it cannot be read. */
    namesIn: (path: string): Iterable<string> => listingAlong(path === '' ? [] : path.split('/')).keys(),
  };
}

export const isFile = (entry: Dirent): boolean => linked(entry)?.isFile() === true;

const isFolder = (entry: Dirent): boolean => linked(entry)?.isDirectory() === true;

/** A link to a file counts as a file, as it does in the repository. */
function linked(entry: Dirent): Pick<Dirent, 'isFile' | 'isDirectory'> | undefined {
  if (!entry.isSymbolicLink()) return entry;
  try {
    return statSync(join(entry.parentPath, entry.name));
  } catch {
    return undefined;
  }
}

function entriesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
