import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type BranchName, parseBranchName } from '../../src/interface/branch-name.ts';
import { createGit, type Git } from '../../src/service/git/git.ts';
import { GitError } from '../../src/service/git/git-error.ts';
import { parseRemote, type Remote } from '../../src/service/git/remote.ts';
import { createRepository, gitAt } from './git-repository.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { valueIn } from './value-in.ts';

/** The minimal environment of an operator, with only the path from the environment of the tests. */
export function operatorEnvironment(folder: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: folder, ...more };
}

export function gitIn(folder: string, environment: NodeJS.ProcessEnv = {}, silenceMs?: number): Git {
  return createGit({
    dataFolder: folder,
    allowFile: true,
    environment: operatorEnvironment(folder, environment),
    silenceMs,
  });
}

export const remoteAt = (address: string): Remote => valueIn(parseRemote(address, { allowFile: true }));

export const branchNamed = (name: string): BranchName => valueIn(parseBranchName(name));

/** A repository, and a service that has not mirrored it yet. */
export async function gitSetUp() {
  const folder = temporaryFolder();
  const repository = createRepository(folder);
  const data = join(folder, 'data');
  return {
    folder,
    repository,
    data,
    git: gitIn(data),
    remote: remoteAt(repository.path),
    mirror: join(data, 'mirrors', 'game.git'),
  };
}

/** The error of a promise that must fail. */
export async function failureOf(work: Promise<unknown>): Promise<GitError> {
  const outcome = await work.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );
  if (outcome instanceof GitError) return outcome;
  throw new Error('This had to fail with a GitError.', { cause: outcome });
}

export const enoughTime = { timeoutMs: 30_000 };

/** Expects a complete branch, as verified by git, and no temporary files. */
export async function expectSound(mirror: string, data: string): Promise<void> {
  expect(gitAt(mirror, 'fsck', '--full', '--strict', '--no-dangling', '--no-progress')).toBe('');
  const files = await readdir(mirror, { recursive: true });
  expect(files.filter((file) => /\.lock$|tmp_|\.tmp-|\.keep$/.test(file))).toEqual([]);
  expect(await readdir(join(data, 'scratch'))).toEqual([]);
}
