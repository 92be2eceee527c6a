import { execFile } from 'node:child_process';
import { promises } from 'node:fs';
import { promisify } from 'node:util';
import { closestPath } from '../interface/closest-name.ts';
import type { LockPath } from '../interface/lock-path.ts';
import { openCheckout } from '../locks/checkout.ts';

/** The checked-out branch; undefined if there is none. */
export const headBranch = async (): Promise<string | undefined> =>
  /^refs\/heads\/(.+)/.exec((await outputOf('symbolic-ref', '--quiet', 'HEAD')) ?? '')?.[1];

/** Problems of paths that are probably mistakes. Any other path may belong to a new file. */
export async function pathProblems(paths: readonly LockPath[]): Promise<readonly string[]> {
  const [root = '', folder = ''] =
    (await outputOf('rev-parse', '--show-toplevel', '--show-prefix'))?.split(/\r?\n/) ?? [];
  if (root === '') return [];
  const { find, namesIn } = openCheckout(root);
  const problems: string[] = [];
  for (const path of paths) {
    const kind = find(path);
    const fromFolder = `${folder}${path}`;
    if (kind === 'folder') problems.push(`${path} is a folder. A lock on it covers none of its files: name the files.`);
    if (kind !== undefined) continue;
    if (/[*?[]/.test(path) && (await matchesFile(root, [path, fromFolder]))) {
      problems.push(`${path} is not expanded. A lock on a pattern covers no files: name the files.`);
      continue;
    }
    const meant = find(fromFolder) === undefined ? closestPath(path, namesIn) : fromFolder;
    if (meant !== undefined) problems.push(`${path} is not in this checkout. Did you mean ${meant}?`);
  }
  return problems;
}

async function matchesFile(root: string, patterns: readonly string[]): Promise<boolean> {
  for await (const _ of promises.glob(patterns, { cwd: root })) return true;
  return false;
}

/** Undefined if git fails. */
async function outputOf(...args: readonly string[]): Promise<string | undefined> {
  const output = promisify(execFile)('git', args, { timeout: 60_000 });
  return output.then(({ stdout }) => stdout).catch(() => undefined);
}
