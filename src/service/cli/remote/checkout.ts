import { type SpawnSyncOptions, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
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

/** Warnings about paths that are not meant as written. Any other path may be that of a new file. */
export function pathWarnings(paths: readonly LockPath[]): readonly string[] {
  const [root = '', folder = ''] = outputOf('rev-parse', '--show-toplevel', '--show-prefix')?.split(/\r?\n/) ?? [];
  if (root === '') return [];
  return paths.flatMap((path) => {
    const candidates = [path, `${folder}${path}`];
    const found = candidates.find((each) => existsSync(`${root}/${each}`));
    if (found !== undefined && existsSync(`${root}/${found}/`))
      return [`${path} is a folder. A lock on it covers none of its files: name the files.`];
    if (found !== undefined)
      return found === path ? [] : [`${path} is not in this checkout. Did you mean ${found}, from its root?`];
    const isPattern =
      /[*?[]/.test(path) && Boolean(outputOf('ls-files', '--', ...candidates.map((each) => `:(top,glob)${each}`)));
    return isPattern ? [`${path} is not expanded. A lock on a pattern covers no files: name the files.`] : [];
  });
}

/** Runs git with the user's configuration and environment: git passes hooks variables, such as a separate index. */
export const runGit = (args: readonly string[], options: Pick<SpawnSyncOptions, 'cwd' | 'input' | 'timeout'> = {}) =>
  spawnSync('git', args, { encoding: 'utf8', timeout: 60_000, maxBuffer: 64 * 1_024 * 1_024, ...options });

/** Undefined if git fails. */
export function outputOf(...args: readonly string[]): string | undefined {
  const { status, stdout } = runGit(args);
  return status === 0 ? stdout : undefined;
}
