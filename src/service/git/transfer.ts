import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { layOutRepository, type Mirror } from './bare-repository.ts';
import { type BranchName, branchRef } from './branch-name.ts';
import type { GitCommand } from './git-command.ts';
import { GitError } from './git-error.ts';
import { type Remote, remoteArguments } from './remote.ts';
import { endedBy, type Limits } from './run-git.ts';
import { inScratchFolder } from './scratch.ts';
import { type MinTransferSpeed, watchTransferSpeed } from './transfer-speed.ts';

export type Progress =
  /** Objects that the remote considered for the pack. Includes delta bases, so it can be more than it sends. */
  | { readonly kind: 'announced'; readonly objects: number }
  /** `total` is the number of objects in the pack, from its header. */
  | { readonly kind: 'receiving'; readonly received: number; readonly total: number };

export interface Transfer {
  readonly git: GitCommand;
  readonly mirror: Mirror;
  readonly remote: Remote;
  readonly branch: BranchName;
  readonly limits: Limits;
  readonly minSpeed: MinTransferSpeed;
  /** Called when git or the remote writes any line. */
  readonly onSign?: (() => void) | undefined;
}

/** Fetches the missing objects of the branch into a temporary repository, and removes it after `use`. */
export async function transferBeside<T>(
  { git, mirror, remote, branch, limits, minSpeed, onSign }: Transfer,
  onProgress: (progress: Progress) => void,
  use: (repository: string) => Promise<T>,
): Promise<T> {
  return inScratchFolder(mirror.scratch, async (folder) => {
    const repository = await createBorrowing(mirror, folder);
    const options = ['--progress', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--refmap='];
    const refspec = `+${branchRef(branch)}:${branchRef(branch)}`;
    const speed = watchTransferSpeed(() => sizeOfPacks(repository), minSpeed);
    try {
      await git(['fetch', ...options, ...remoteArguments(remote), refspec], {
        purpose: `fetch the branch ${branch} of ${remote.address}`,
        limits: endedBy(limits, speed.tooSlow),
        repository,
        remote,
        onErrorLine: (line) => {
          onSign?.();
          speed.onErrorLine(line);
          const progress = readProgress(line);
          if (progress === undefined) return;
          // Everything is received: git then processes the pack without further transfer.
          if (progress.kind === 'receiving' && progress.received === progress.total) speed.end();
          onProgress(progress);
        },
      });
    } catch (error) {
      if (error instanceof GitError && error.kind === 'aborted' && speed.tooSlow.aborted) {
        const { bytesPerSecond, forMs } = minSpeed;
        throw new GitError(
          'timeout',
          `git could not fetch the branch ${branch} of ${remote.address}: for ${Math.round(forMs / 1_000)} s it brought less than ${bytesPerSecond} bytes a second. Check the remote and the network between.`,
        );
      }
      if (error instanceof GitError && error.said.includes("couldn't find remote ref")) {
        throw new GitError('no-such-branch', `There is no branch ${branch} in ${remote.address}.`, error.said);
      }
      throw error;
    } finally {
      speed.end();
    }
    return use(repository);
  });
}

export function readProgress(line: string): Progress | undefined {
  const [, received, total] = /^Receiving objects: +\d+% \((\d+)\/(\d+)\)/.exec(line) ?? [];
  if (received !== undefined && total !== undefined) {
    return { kind: 'receiving', received: Number(received), total: Number(total) };
  }
  const [, enumerated, counted] =
    /^remote: (?:Enumerating objects: (\d{1,12}), done|(?:Counting objects|Finding sources): 100% \(\d+\/(\d{1,12})\))/.exec(
      line,
    ) ?? [];
  const objects = enumerated ?? counted;
  return objects === undefined ? undefined : { kind: 'announced', objects: Number(objects) };
}

/**
 * Creates a repository that reads all objects of the mirror but writes into its own folder, so that it cannot damage
 * the mirror. The branches of the mirror take part in the negotiation with the remote.
 */
async function createBorrowing(mirror: Mirror, folder: string): Promise<string> {
  const repository = join(folder, 'borrowing.git');
  await layOutRepository(repository);
  await writeFile(join(repository, 'objects', 'info', 'alternates'), `${join(mirror.repository, 'objects')}\n`);
  return repository;
}

/** Size of all packs, including a pack that is still being received: git writes it to this folder. */
async function sizeOfPacks(repository: string): Promise<number> {
  const folder = join(repository, 'objects', 'pack');
  const names = await readdir(folder).catch(() => []);
  const packs = await Promise.all(names.map((name) => stat(join(folder, name)).catch(() => undefined)));
  return packs.reduce((sum, pack) => sum + (pack?.size ?? 0), 0);
}
