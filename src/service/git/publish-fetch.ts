import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { headsOf, type Mirror } from './bare-repository.ts';
import { type BranchName, branchRef } from './branch-name.ts';
import { type GitCommand, inRepository, localLimits } from './git-command.ts';
import { ageOf } from './scratch.ts';

/** Moves the fetched packs into the mirror, then the branch to its new head. */
export async function publishFetch(
  git: GitCommand,
  from: string,
  mirror: Mirror,
  branch: BranchName,
  head: string,
): Promise<void> {
  await movePacks(from, mirror);
  await removeStaleLocks(mirror, branch);
  const moveBranch = (): Promise<string> =>
    git(['update-ref', branchRef(branch), head], {
      purpose: `move the branch ${branch} of the mirror to ${head}`,
      limits: localLimits,
      repository: mirror.repository,
    });
  try {
    await moveBranch();
  } catch (error) {
    if (!(await removeReplacedBranches(git, mirror, branch))) throw error;
    await moveBranch();
  }
}

/** Moves the index last, because it makes the pack visible. Syncs the folder before a ref depends on the pack. */
async function movePacks(from: string, mirror: Mirror): Promise<void> {
  const source = join(from, 'objects', 'pack');
  const target = join(mirror.repository, 'objects', 'pack');
  const files = (await readdir(source)).filter((file) => /^pack-[0-9a-f]+\.(pack|rev|idx)$/.test(file));
  if (files.length === 0) return;
  // Not `recursive`: if the repository was removed, this must fail instead of creating part of a repository.
  await mkdir(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const indexLast = files.toSorted((one, other) => Number(one.endsWith('.idx')) - Number(other.endsWith('.idx')));
  for (const file of indexLast) await rename(join(source, file), join(target, file));
  await syncFolder(target);
}

async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open a folder as a file, and orders its writes itself.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** git holds the lock of a ref only briefly: an older lock was left by a killed process. */
const staleLockMs = 60_000;

async function removeStaleLocks(mirror: Mirror, branch: BranchName): Promise<void> {
  for (const file of [branchRef(branch), 'packed-refs']) {
    const lock = join(mirror.repository, `${file}.lock`);
    if ((await ageOf(lock)) > staleLockMs) await rm(lock, { force: true });
  }
}

/**
 * Removes branches that conflict with this one: `a` for `a/b`, and `a/b` for `a`. The remote has this branch, so it no
 * longer has the others. Returns whether any were removed.
 */
async function removeReplacedBranches(git: GitCommand, mirror: Mirror, branch: BranchName): Promise<boolean> {
  const inMirror = inRepository(git, mirror.repository);
  const names = [...(await headsOf(inMirror)).keys()];
  const replaced = names.filter((name) => name.startsWith(`${branch}/`) || branch.startsWith(`${name}/`));
  for (const name of replaced) {
    await inMirror(['update-ref', '-d', `refs/heads/${name}`], {
      purpose: `remove the branch ${name}, which ${branch} replaces`,
      limits: localLimits,
    });
  }
  return replaced.length > 0;
}
