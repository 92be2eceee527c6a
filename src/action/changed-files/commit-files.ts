import { asObject } from '../../client/json.ts';
import { grouped } from '../report/words.ts';
import type { GitHub } from './github.ts';
import { type ListedFile, readFiles } from './listed-file.ts';

/** How many files a page has, and all pages together have at the most: docs.github.com, "Get a commit". */
const pageSize = 300;
const mostListed = 3_000;

/** All files in which a commit differs from its first parent. */
export async function commitFiles(github: GitHub, commit: string): Promise<readonly ListedFile[]> {
  const files: ListedFile[] = [];
  let pages = 0;
  for await (const page of github.pages('commits/{commit}', { commit })) {
    files.push(...readFiles(asObject(page)['files']));
    pages += 1;
  }
  const tooMany = new Error(
    `GitHub lists ${grouped(files.length)} files of the commit ${commit.slice(0, 7)}, and there may be more. Name the files with \`path\` instead.`,
  );
  if (files.length >= mostListed) throw tooMany;
  // A server that gives no further pages cuts the list where a page ends.
  if (files.length > 0 && files.length === pages * pageSize) {
    const rest = await github.read('commits/{commit}', { commit, page: pages + 1 });
    if (readFiles(asObject(rest)['files'] ?? []).length > 0) throw tooMany;
  }
  return files;
}
