import { type SpawnSyncOptions, spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from '../command/command.ts';
import { closestPath } from '../interface/closest-name.ts';
import { type LockPath, parseLockPath } from '../interface/lock-path.ts';
import { startErrorText } from '../interface/system-errors.ts';

/** The checked-out branch; undefined if there is none. */
export const headBranch = (): string | undefined =>
  /^refs\/heads\/(.+)/.exec(outputOf('symbolic-ref', '--quiet', 'HEAD') ?? '')?.[1];

/** Paths that are not meant as written. Any other path may be that of a new file. */
export function pathProblems(paths: readonly LockPath[]): readonly string[] {
  const [root = '', folder = ''] = outputOf('rev-parse', '--show-toplevel', '--show-prefix')?.split(/\r?\n/) ?? [];
  return root === '' ? [] : paths.flatMap((path) => problemOf(path, root, folder) ?? []);
}

function problemOf(path: LockPath, root: string, folder: string): string | undefined {
  const kind = kindOf(path, root);
  if (kind === 'file') return undefined;
  if (kind === 'folder') return `${path} is a folder. A lock on it covers none of its files: name the files.`;
  const fromFolder = `${folder}${path}`;
  const isPattern =
    /[*?[]/.test(path) && [path, fromFolder].some((each) => outputOf('ls-files', '--', `:(top,glob)${each}`));
  if (isPattern) return `${path} is not expanded. A lock on a pattern covers no files: name the files.`;
  const meant =
    folder !== '' && kindOf(fromFolder, root) !== undefined
      ? fromFolder
      : closestPath(path, (at) => namesIn(join(root, at)));
  return meant && `${path} is not in this checkout. Did you mean ${meant}?`;
}

/** Looks in the index, because a checkout may be sparse, and in the folder. Case counts, even if the file system ignores it. */
function kindOf(path: string, root: string): 'file' | 'folder' | undefined {
  const tracked = outputOf('ls-files', '-z', '--full-name', '--', `:(top,literal)${path}`)?.split('\0') ?? [];
  if (tracked.includes(path)) return 'file';
  if (tracked.some((name) => name.startsWith(`${path}/`))) return 'folder';
  if (closestPath(path, (at) => namesIn(join(root, at))) !== path) return undefined;
  return statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() ? 'folder' : 'file';
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => name.normalize('NFC'));
  } catch {
    return [];
  }
}

type GitOptions = Pick<SpawnSyncOptions, 'cwd' | 'input'>;

/** Runs git with the user's configuration and environment: git passes hooks variables, such as a separate index. */
const runGit = (args: readonly string[], options: GitOptions = {}) =>
  spawnSync('git', args, { encoding: 'utf8', timeout: 60_000, maxBuffer: 256 * 1_024 * 1_024, ...options });

/** Undefined if git fails. */
function outputOf(...args: readonly string[]): string | undefined {
  const { status, stdout } = runGit(args);
  return status === 0 ? stdout : undefined;
}

/** Staged files that have the attribute `lockable` of Git LFS, as paths from the root of the repository. */
export function stagedLockablePaths(): readonly LockPath[] {
  const folder = git(['rev-parse', '--show-toplevel']).replace(/\r?\n$/, '');
  const names = withoutMerged(stagedSince(folder), folder);
  if (names.length === 0) return [];
  const input = names.map((name) => `${name}\0`).join('');
  const fields = git(['check-attr', '-z', '--stdin', 'lockable'], { cwd: folder, input }).split('\0');
  // Three fields per file: name, attribute, value.
  const lockable = names.filter((_, index) => ['set', 'true'].includes(fields[3 * index + 2] ?? ''));
  // Requiring a lock on another name would make the file impossible to commit.
  return lockable.flatMap((name) => {
    const path = parseLockPath(name);
    return path.ok ? [path.value] : [];
  });
}

/** Omits files that a merge takes unchanged from the other branch: the people who changed them there held the locks. */
function withoutMerged(names: readonly string[], folder: string): readonly string[] {
  const merging = runGit(['rev-parse', '--quiet', '--verify', 'MERGE_HEAD'], { cwd: folder }).status === 0;
  if (!merging) return names;
  const alsoChangedHere = new Set(stagedSince(folder, 'MERGE_HEAD'));
  return names.filter((name) => alsoChangedHere.has(name));
}

/** Files that differ from a commit, including deleted ones. A renamed file is listed with its old and its new name. */
const stagedSince = (folder: string, ...commit: readonly string[]): readonly string[] =>
  git(['diff', '--cached', '--name-only', '--no-renames', '--no-relative', '-z', ...commit, '--'], { cwd: folder })
    .split('\0')
    .filter((name) => name !== '');

function git(args: readonly string[], options?: GitOptions): string {
  const { status, error, stdout, stderr } = runGit(args, options);
  if (status === 0) return stdout;
  const reason = error === undefined ? stderr.trim() : `${startErrorText(error)}.`;
  throw new CommandError(`git could not list the staged files: ${reason}`);
}
