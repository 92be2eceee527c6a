import { isRepository, type Mirror } from './bare-repository.ts';
import type { GitCommand } from './git-command.ts';
import type { Limits } from './run-git.ts';

/**
 * Joins small packs into larger ones, each at least twice as large as the next: the work is proportional to the fetched
 * data, and large packs stay. No object is dropped, so fetches may run at the same time.
 */
export async function maintainMirror(git: GitCommand, { repository }: Mirror, limits: Limits): Promise<void> {
  if (!(await isRepository(repository))) return;
  await git(['repack', '--geometric=2', '-d', '-l', '--quiet'], {
    purpose: `join the packs of the mirror in ${repository}`,
    limits,
    repository,
  });
}
