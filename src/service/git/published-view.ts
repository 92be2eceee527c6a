import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createBorrowingRepository, type Mirror } from './bare-repository.ts';
import { type BranchName, branchRef } from './branch-name.ts';
import { withScratchFolder } from './scratch.ts';

export type PublishedBranches = ReadonlyMap<BranchName, string>;

/** Runs `use` on a temporary repository with the objects of the mirror and exactly these refs, even during syncs. */
export async function withPublishedView<T>(
  mirror: Mirror,
  { branches, defaultBranch }: { readonly branches: PublishedBranches; readonly defaultBranch: BranchName },
  use: (view: string) => Promise<T>,
): Promise<T> {
  return withScratchFolder(mirror.scratch, async (folder) => {
    const view = join(folder, 'published.git');
    await createBorrowingRepository(view, mirror, defaultBranch);
    const refs = [...branches].map(([name, head]) => `${head} ${branchRef(name)}\n`);
    await writeFile(join(view, 'packed-refs'), refs.join(''));
    return use(view);
  });
}
