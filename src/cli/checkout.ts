import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { closestPath } from '../interface/closest-name.ts';
import type { LockPath } from '../interface/lock-path.ts';

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

/** Undefined if git fails. */
function outputOf(...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8', timeout: 60_000, maxBuffer });
  return status === 0 ? stdout : undefined;
}

const maxBuffer = 256 * 1_024 * 1_024;
