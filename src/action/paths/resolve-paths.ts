import { glob as globFiles, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { canonicalLockPath, type LockPath } from '../../interface/lock-path.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { PathLines } from '../inputs/task.ts';

export type ResolvedPaths =
  | { readonly ok: true; readonly paths: readonly LockPath[] }
  | { readonly ok: false; readonly problems: readonly string[] };

const isPattern = (line: string): boolean => line.startsWith('!') || /[*?[\]{}]/.test(line);

const isFile = async (path: string): Promise<boolean> =>
  stat(path).then(
    (entry) => entry.isFile(),
    () => false,
  );

const inUrlOrder = (path: string): string => (sep === '\\' ? path.replaceAll('\\', '/') : path);

async function filesMatching(pattern: string, checkout: string): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of globFiles(pattern, { cwd: checkout, withFileTypes: true })) {
    if (entry.isFile()) found.push(join(entry.parentPath, entry.name).slice(checkout.length + 1));
  }
  return found.map(inUrlOrder).sort();
}

/** A pattern that leaves the checkout would lock paths that mean something else in the workspace. */
function whyNotAPattern(pattern: string): string | undefined {
  if (/^(?:[/\\]|[a-z]:)/i.test(pattern)) return 'A pattern is relative to the checkout: it must not start with /.';
  if (pattern.split(/[/\\]/).includes('..')) return 'A pattern must not leave the checkout with "..".';
  return undefined;
}

async function expand(pattern: string, checkout: string): Promise<Parsed<readonly string[]>> {
  const why = whyNotAPattern(pattern);
  if (why !== undefined) return refused(why);
  const files = await filesMatching(pattern, checkout);
  return files.length > 0
    ? accepted(files)
    : refused(
        `No file of the checkout in ${checkout} matches it. Check it out first, or set \`glob: false\` if this is the name of a file.`,
      );
}

const problem = (line: string, why: string): string => `Input \`path\` has the line ${JSON.stringify(line)}. ${why}`;

/**
 * The paths that the lines of the input mean, each once, in the order of the lines. A line that names a file is that
 * file; otherwise, with `glob`, a line with wildcards is every file that it matches, and one that starts with `!` takes
 * files away again.
 */
export async function resolvePaths({ lines, glob }: PathLines, checkout: string): Promise<ResolvedPaths> {
  const problems: string[] = [];
  const chosen = new Set<LockPath>();

  async function meant(line: string): Promise<readonly string[]> {
    if (!glob || !isPattern(line) || (await isFile(join(checkout, line)))) return [line];
    const expanded = await expand(line.replace(/^!/, ''), checkout);
    if (expanded.ok) return expanded.value;
    problems.push(problem(line, expanded.why));
    return [];
  }

  for (const line of lines) {
    const takesAway = glob && line.startsWith('!') && !(await isFile(join(checkout, line)));
    for (const text of await meant(line)) {
      const path = canonicalLockPath(text);
      if (!path.ok) problems.push(problem(line, path.why));
      else if (takesAway) chosen.delete(path.value);
      else chosen.add(path.value);
    }
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, paths: [...chosen] };
}
