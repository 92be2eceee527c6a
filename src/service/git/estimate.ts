import { type Mirror, openMirror } from './bare-repository.ts';
import type { BranchName } from './branch-name.ts';
import type { GitCommand } from './git-command.ts';
import { GitError } from './git-error.ts';
import type { Remote } from './remote.ts';
import type { Limits } from './run-git.ts';
import { transferBeside } from './transfer.ts';
import type { MinTransferSpeed } from './transfer-speed.ts';

export interface Estimate {
  readonly objects: number;
  /** False where time ran out while the remote was still packing: then it is what the remote had announced so far. */
  readonly exact: boolean;
}

/**
 * How many objects a fetch of the branch would transfer. A fetch beside the mirror is begun, and ended when the pack
 * arrives: its header has the number. What the remote announces before that is not it (see `Progress`), and stands in
 * only when time runs out.
 */
export async function estimateObjects(
  git: GitCommand,
  mirror: Mirror,
  remote: Remote,
  branch: BranchName,
  limits: Limits,
  minSpeed: MinTransferSpeed,
): Promise<Estimate> {
  const known = new AbortController();
  const signal = limits.signal === undefined ? known.signal : AbortSignal.any([limits.signal, known.signal]);
  let announced: number | undefined;
  let total: number | undefined;
  try {
    await transferBeside(
      git,
      {
        mirror: await openMirror(git, mirror),
        remote,
        branch,
        limits: { timeoutMs: limits.timeoutMs, signal },
        minSpeed,
        onProgress: (progress) => {
          if (progress.kind === 'announced') announced = Math.max(announced ?? 0, progress.objects);
          else {
            total = progress.total;
            known.abort();
          }
        },
      },
      async () => {},
    );
    return { objects: total ?? 0, exact: true };
  } catch (error) {
    if (total !== undefined) return { objects: total, exact: true };
    if (error instanceof GitError && error.kind === 'timeout' && announced !== undefined) {
      return { objects: announced, exact: false };
    }
    throw error;
  }
}
