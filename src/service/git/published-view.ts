import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createBorrowingRepository, type Mirror } from './bare-repository.ts';
import { type BranchName, branchRef } from './branch-name.ts';
import { withScratchFolder } from './scratch.ts';

export interface Published {
  readonly branches: ReadonlyMap<BranchName, string>;
  /** Commits that may be requested by id, although they are no longer the head of a branch. */
  readonly unnamed: readonly string[];
}

/** git serves the refs in this namespace on request, but does not advertise them. */
export const unnamedRefs = 'refs/unnamed/';

/** Runs `use` on a temporary repository with the objects of the mirror and exactly these refs, even during syncs. */
export async function withPublishedView<T>(
  mirror: Mirror,
  { branches, unnamed }: Published,
  use: (view: string) => Promise<T>,
): Promise<T> {
  return withScratchFolder(mirror.scratch, async (folder) => {
    const view = join(folder, 'published.git');
    await createBorrowingRepository(view, mirror);
    const refs = [
      ...[...branches].map(([name, head]) => `${head} ${branchRef(name)}\n`),
      ...unnamed.map((commit) => `${commit} ${unnamedRefs}${commit}\n`),
    ];
    await writeFile(join(view, 'packed-refs'), refs.join(''));
    return use(view);
  });
}
