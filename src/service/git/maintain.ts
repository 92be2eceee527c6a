import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRepository, type Mirror } from './bare-repository.ts';
import type { GitCommand } from './git-command.ts';
import type { Limits } from './run-git.ts';
import { abandonedAfterMs, ageOf } from './scratch.ts';

/**
 * Joins small packs into larger ones, each at least twice as large as the next: the work is proportional to the fetched
 * data, and large packs stay. No object is dropped, so fetches may run at the same time.
 */
export async function maintainMirror(git: GitCommand, mirror: Mirror, limits: Limits): Promise<void> {
  const { repository } = mirror;
  if (!(await isRepository(repository))) return;
  await removeUnfinishedPacks(mirror);
  try {
    await git(['repack', '--geometric=2', '-d', '-l', '--quiet'], {
      purpose: `join the packs of the mirror in ${repository}`,
      limits,
      repository,
    });
  } catch (error) {
    // On a full disk, git leaves its unfinished pack behind, which keeps the disk full. This may also remove the pack
    // of concurrent maintenance: that then fails too, which does no harm.
    await removeUnfinishedPacks(mirror, 0);
    throw error;
  }
}

/** Removes temporary packs of git, which it renames when they are complete. By default, those that were left behind. */
export async function removeUnfinishedPacks({ repository }: Mirror, olderThanMs = abandonedAfterMs): Promise<void> {
  const packs = join(repository, 'objects', 'pack');
  for (const file of await readdir(packs)) {
    const path = join(packs, file);
    if (/^(\.tmp-|tmp_)/.test(file) && (await ageOf(path)) >= olderThanMs) await rm(path, { force: true });
  }
}
