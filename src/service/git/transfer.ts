import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { layOutRepository } from './bare-repository.ts';
import { type BranchName, branchRef } from './branch-name.ts';
import type { GitCommand } from './git-command.ts';
import { GitError } from './git-error.ts';
import type { Mirror } from './mirror.ts';
import type { Remote } from './remote.ts';
import { remoteArguments } from './remote-access.ts';
import type { Limits } from './run-git.ts';
import { inScratchFolder } from './scratch.ts';

export type Progress =
  /** What the remote looked at to make the pack: with the bases of its deltas, so at times more than it sends. */
  | { readonly kind: 'announced'; readonly objects: number }
  /** `total` stands in the header of the pack: it is what the pack holds. */
  | { readonly kind: 'receiving'; readonly received: number; readonly total: number };

export function readProgress(line: string): Progress | undefined {
  const [, received, total] = /^Receiving objects: +\d+% \((\d+)\/(\d+)\)/.exec(line) ?? [];
  if (received !== undefined && total !== undefined) {
    return { kind: 'receiving', received: Number(received), total: Number(total) };
  }
  const [, enumerated, counted] =
    /^remote: (?:Enumerating objects: (\d+), done|(?:Counting objects|Finding sources): 100% \(\d+\/(\d+)\))/.exec(
      line,
    ) ?? [];
  const objects = enumerated ?? counted;
  return objects === undefined ? undefined : { kind: 'announced', objects: Number(objects) };
}

/**
 * A repository that has every object and, for the negotiation with the remote, every branch of the mirror, but writes
 * into its own folder. Whatever happens to it, the mirror is not touched.
 */
async function createBorrowing(mirror: Mirror, folder: string): Promise<string> {
  const repository = join(folder, 'borrowing.git');
  await layOutRepository(repository);
  await writeFile(join(repository, 'objects', 'info', 'alternates'), `${join(mirror.repository, 'objects')}\n`);
  return repository;
}

export interface Transfer {
  readonly mirror: Mirror;
  readonly remote: Remote;
  readonly branch: BranchName;
  readonly limits: Limits;
  readonly onProgress: (progress: Progress) => void;
}

/** Fetches what the mirror lacks of the branch, beside the mirror, and lets `use` have it before it is removed. */
export async function transferBeside<T>(
  git: GitCommand,
  { mirror, remote, branch, limits, onProgress }: Transfer,
  use: (repository: string) => Promise<T>,
): Promise<T> {
  return inScratchFolder(mirror.scratch, async (folder) => {
    const repository = await createBorrowing(mirror, folder);
    const options = ['--progress', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--refmap='];
    const refspec = `+${branchRef(branch)}:${branchRef(branch)}`;
    try {
      await git(['fetch', ...options, ...remoteArguments(remote), refspec], {
        purpose: `fetch the branch ${branch} of ${remote.address}`,
        limits,
        repository,
        remote,
        onErrorLine: (line) => {
          const progress = readProgress(line);
          if (progress !== undefined) onProgress(progress);
        },
      });
    } catch (error) {
      if (error instanceof GitError && error.said.includes("couldn't find remote ref")) {
        throw new GitError('no-such-branch', `There is no branch ${branch} in ${remote.address}.`, error.said);
      }
      throw error;
    }
    return use(repository);
  });
}
