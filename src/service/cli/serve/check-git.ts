import type { Git } from '../../git/git.ts';
import { GitError } from '../../git/git-error.ts';
import { Failure } from '../failure.ts';

/** Older ones do not know some of the settings that keep git from running what a remote says. */
const oldest = [2, 39] as const;

export async function checkGit(git: Git): Promise<string> {
  let version: string;
  try {
    version = await git.version();
  } catch (error) {
    if (error instanceof GitError) throw new Failure(error.message);
    throw error;
  }
  const [major, minor] = version.split('.').map(Number);
  if (major !== undefined && minor !== undefined && (major < oldest[0] || (major === oldest[0] && minor < oldest[1]))) {
    throw new Failure(
      `The service needs git ${oldest.join('.')} or newer, and this is git ${version}. Install a newer one.`,
    );
  }
  return version;
}
