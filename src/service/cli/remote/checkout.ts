import { type SpawnSyncOptions, spawnSync } from 'node:child_process';
import { type LockPath, parseLockPath } from '../../../interface/lock-path.ts';

/** The branch of HEAD: the checked-out one, or the default branch of a bare repository; undefined if there is none. */
export const headBranch = (): string | undefined =>
  /^refs\/heads\/(.+)/.exec(runGit(['symbolic-ref', '--quiet', 'HEAD'], { timeout: 10_000 }).stdout)?.[1];

/** The git blobs of the files in the checked-out commit. Files that it does not have are missing. */
export function checkedOutVersions(paths: readonly LockPath[]): ReadonlyMap<LockPath, string> {
  const listing = outputOf('--literal-pathspecs', 'ls-tree', '-z', '--full-tree', 'HEAD', '--', ...paths) ?? '';
  const entries = listing.split('\0').flatMap((entry): (readonly [LockPath, string])[] => {
    const [, blob, name] = /^\d+ blob ([0-9a-f]+)\t(.+)$/s.exec(entry) ?? [];
    const path = parseLockPath(name ?? '');
    return blob === undefined || !path.ok ? [] : [[path.value, blob]];
  });
  return new Map(entries);
}

/** Runs git with the user's configuration and environment: git passes hooks variables, such as a separate index. */
export const runGit = (args: readonly string[], options: Pick<SpawnSyncOptions, 'cwd' | 'input' | 'timeout'> = {}) =>
  spawnSync('git', args, { encoding: 'utf8', timeout: 60_000, maxBuffer: 64 * 1_024 * 1_024, ...options });

/** Undefined if git fails. */
export function outputOf(...args: readonly string[]): string | undefined {
  const { status, stdout } = runGit(args);
  return status === 0 ? stdout : undefined;
}
