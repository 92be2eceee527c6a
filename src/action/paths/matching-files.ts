// Not from node:fs/promises: Node loads that, and much with it, when `promises` is first used.
import { type Dirent, promises } from 'node:fs';
import { join, relative, sep } from 'node:path';

export const isFile = (path: string): Promise<boolean> =>
  promises.stat(path).then(
    (entry) => entry.isFile(),
    () => false,
  );

const inUrlOrder = (path: string): string => (sep === '\\' ? path.replaceAll('\\', '/') : path);

/** A link to a file stands for a file: in the repository it is one. */
const standsForFile = async (entry: Dirent): Promise<boolean> =>
  entry.isFile() || (entry.isSymbolicLink() && (await isFile(join(entry.parentPath, entry.name))));

/** The files of the checkout that a pattern matches, from the checkout on, in the order of their names. */
export async function matchingFiles(pattern: string, checkout: string): Promise<readonly string[]> {
  const found = new Set<string>();
  // Some systems store names composed (é), some decomposed (e and an accent), and a pattern is compared with what is stored.
  for (const spelling of new Set([pattern, pattern.normalize('NFC'), pattern.normalize('NFD')])) {
    for await (const entry of promises.glob(spelling, { cwd: checkout, withFileTypes: true })) {
      if (await standsForFile(entry)) found.add(inUrlOrder(relative(checkout, join(entry.parentPath, entry.name))));
    }
  }
  return [...found].sort();
}
