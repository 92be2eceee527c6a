import { execFile } from 'node:child_process';
import { promises, readdirSync, statSync } from 'node:fs';
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
  const listed = new Map<string, ReadonlySet<string>>();
  const problems: string[] = [];
  for (const path of paths) problems.push(...(await problemsOf(path)));
  return problems;

  async function problemsOf(path: LockPath): Promise<readonly string[]> {
    if (exists(path)) {
      const isFolder = statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() === true;
      return isFolder ? [`${path} is a folder. A lock on it covers none of its files: name the files.`] : [];
    }
    const fromFolder = `${folder}${path}`;
    if (/[*?[]/.test(path) && (await matchesFile(root, [path, fromFolder])))
      return [`${path} is not expanded. A lock on a pattern covers no files: name the files.`];
    const meant = folder !== '' && exists(fromFolder) ? fromFolder : closestPath(path, namesIn);
    return meant === undefined ? [] : [`${path} is not in this checkout. Did you mean ${meant}?`];
  }

  /** Case-sensitive, even if the file system is not. */
  function exists(path: string): boolean {
    const [, parent = '', name = ''] = /^(?:(.*)\/)?(.*)$/s.exec(path) ?? [];
    return (parent === '' || exists(parent)) && namesIn(parent).has(name);
  }

  function namesIn(at: string): ReadonlySet<string> {
    const names = listed.get(at) ?? readNames(join(root, at));
    listed.set(at, names);
    return names;
  }
}

async function matchesFile(root: string, patterns: readonly string[]): Promise<boolean> {
  for await (const _ of promises.glob(patterns, { cwd: root })) return true;
  return false;
}

function readNames(folder: string): ReadonlySet<string> {
  try {
    return new Set(readdirSync(folder).map((name) => name.normalize('NFC')));
  } catch {
    return new Set();
  }
}

/** Undefined if git fails. */
async function outputOf(...args: readonly string[]): Promise<string | undefined> {
  const output = promisify(execFile)('git', args, { timeout: 60_000 });
  return output.then(({ stdout }) => stdout).catch(() => undefined);
}
