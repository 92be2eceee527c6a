import { join } from 'node:path';
import { createBareRepository, isRepository, moveInto } from './bare-repository.ts';
import type { GitCommand } from './git-command.ts';
import { inScratchFolder } from './scratch.ts';

/** A bare repository that holds what was fetched from a remote. It keeps whatever it was given once. */
export interface Mirror {
  readonly repository: string;
  /** Where work in progress is kept: on the same disk, so that what is done can be moved in at once. */
  readonly scratch: string;
}

/** Creates the mirror where there is none, also when several do this at once. */
export async function openMirror(git: GitCommand, mirror: Mirror): Promise<Mirror> {
  if (await isRepository(mirror.repository)) return mirror;
  await inScratchFolder(mirror.scratch, async (folder) => {
    const fresh = join(folder, 'mirror.git');
    await createBareRepository(git, fresh);
    await moveInto(fresh, mirror.repository);
  });
  return mirror;
}
