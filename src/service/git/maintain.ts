import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitCommand } from './git-command.ts';
import { type Mirror, openMirror } from './mirror.ts';
import type { Limits } from './run-git.ts';

const abandonedAfter = 60 * 60 * 1_000;

/** What an upkeep that was killed left behind. */
async function removeUnfinishedPacks(mirror: Mirror): Promise<void> {
  const folder = join(mirror.repository, 'objects', 'pack');
  for (const file of await readdir(folder)) {
    if (!/^(\.tmp-|tmp_)/.test(file)) continue;
    const { mtimeMs } = await stat(join(folder, file)).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > abandonedAfter) await rm(join(folder, file), { force: true });
  }
}

/**
 * Joins small packs into larger ones, each at least twice the next: the work stays in proportion to what was fetched,
 * and large packs are left alone. No object is ever dropped, so fetches may go on beside it.
 */
export async function maintainMirror(git: GitCommand, mirror: Mirror, limits: Limits): Promise<void> {
  const { repository } = await openMirror(git, mirror);
  await removeUnfinishedPacks(mirror);
  await git(['repack', '--geometric=2', '-d', '-l', '--quiet'], {
    purpose: `join the packs of the mirror in ${repository}`,
    limits,
    repository,
  });
}
