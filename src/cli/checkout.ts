import { execFile } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { closestPath } from '../interface/closest-name.ts';
import type { LockPath } from '../interface/lock-path.ts';

/** The checked-out branch; undefined if there is none. */
export const headBranch = async (): Promise<string | undefined> =>
  /^refs\/heads\/(.+)/.exec((await outputOf('symbolic-ref', '--quiet', 'HEAD')) ?? '')?.[1];

/** Problems of paths that are probably mistakes. Any other path may belong to a new file. */
export async function pathProblems(paths: readonly LockPath[]): Promise<readonly string[]> {
  const [root = '', folder = ''] =
    (await outputOf('rev-parse', '--show-toplevel', '--show-prefix'))?.split(/\r?\n/) ?? [];
  if (root === '') return [];
  const tracked = await trackedKinds(paths.flatMap((path) => [path, `${folder}${path}`]));
  const listed = new Map<string, readonly string[]>();
  const problems: string[] = [];
  for (const path of paths) problems.push(...(await problemsOf(path)));
  return problems;

  async function problemsOf(path: LockPath): Promise<readonly string[]> {
    const kind = kindOf(path);
    if (kind === 'file') return [];
    if (kind === 'folder') return [`${path} is a folder. A lock on it covers none of its files: name the files.`];
    const fromFolder = `${folder}${path}`;
    const patterns = [path, fromFolder].map((each) => `:(top,glob)${each}`);
    if (/[*?[]/.test(path) && (await outputOf('ls-files', '--', ...patterns)))
      return [`${path} is not expanded. A lock on a pattern covers no files: name the files.`];
    const meant = folder !== '' && kindOf(fromFolder) !== undefined ? fromFolder : closestPath(path, namesIn);
    return meant === undefined ? [] : [`${path} is not in this checkout. Did you mean ${meant}?`];
  }

  /** Looks in the index (checkouts may be sparse) and in the folder. Case-sensitive, even if the file system is not. */
  function kindOf(path: string): 'file' | 'folder' | undefined {
    const kind = tracked.get(path);
    if (kind !== undefined || closestPath(path, namesIn) !== path) return kind;
    return statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() ? 'folder' : 'file';
  }

  function namesIn(at: string): readonly string[] {
    const names = listed.get(at) ?? readNames(join(root, at));
    listed.set(at, names);
    return names;
  }
}

/** More paths could exceed the limit for arguments of a process, and each is compared with all files. */
const maxNamed = 20;

/** The paths that are files or folders in the index, with their kinds. */
async function trackedKinds(paths: readonly string[]): Promise<ReadonlyMap<string, 'file' | 'folder'>> {
  const wanted = new Set(paths);
  const patterns = wanted.size > maxNamed ? [':/'] : [...wanted].map((path) => `:(top,literal)${path}`);
  const kinds = new Map<string, 'file' | 'folder'>();
  for (const name of (await outputOf('ls-files', '-z', '--full-name', '--', ...patterns))?.split('\0') ?? []) {
    if (wanted.has(name)) kinds.set(name, 'file');
    for (let end = name.indexOf('/'); end >= 0; end = name.indexOf('/', end + 1)) {
      const folder = name.slice(0, end);
      if (wanted.has(folder)) kinds.set(folder, 'folder');
    }
  }
  return kinds;
}

function readNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => name.normalize('NFC'));
  } catch {
    return [];
  }
}

/** Undefined if git fails. */
async function outputOf(...args: readonly string[]): Promise<string | undefined> {
  const output = promisify(execFile)('git', args, { timeout: 60_000, maxBuffer });
  return output.then(({ stdout }) => stdout).catch(() => undefined);
}

const maxBuffer = 256 * 1_024 * 1_024;
