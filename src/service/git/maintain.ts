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
  await removeAbandonedPacks(mirror);
  await removingWhatIsBegun(mirror, () =>
    git(['repack', '--geometric=2', '-d', '-l', '--quiet'], {
      purpose: `join the packs of the mirror in ${repository}`,
      limits,
      repository,
    }),
  );
}

/** Removes unfinished packs that killed maintenance left behind. */
export async function removeAbandonedPacks(mirror: Mirror): Promise<void> {
  for (const file of await unfinishedPacks(mirror)) {
    const path = join(packsOf(mirror), file);
    if ((await ageOf(path)) > abandonedAfterMs) await rm(path, { force: true });
  }
}

/**
 * On a full disk, git leaves its unfinished pack behind, which keeps the disk full. The cleanup may also remove
 * unfinished packs of concurrent maintenance: that then fails too, which does no harm.
 */
async function removingWhatIsBegun<T>(mirror: Mirror, work: () => Promise<T>): Promise<T> {
  const before = await unfinishedPacks(mirror);
  try {
    return await work();
  } catch (error) {
    for (const file of await unfinishedPacks(mirror)) {
      if (!before.includes(file)) await rm(join(packsOf(mirror), file), { force: true });
    }
    throw error;
  }
}

/** Temporary files of git in the folder of the packs. git renames them when they are complete. */
const unfinishedPacks = async (mirror: Mirror): Promise<readonly string[]> =>
  (await readdir(packsOf(mirror))).filter((file) => /^(\.tmp-|tmp_)/.test(file));

const packsOf = (mirror: Mirror): string => join(mirror.repository, 'objects', 'pack');
