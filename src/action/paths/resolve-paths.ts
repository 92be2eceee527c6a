import { join, posix } from 'node:path';
import { canonicalLockPath, type LockPath, parseLockPath } from '../../interface/lock-path.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { PathLine } from '../inputs/path-lines.ts';
import { lineProblem } from '../inputs/reader.ts';
import { isFile, matchingFiles } from './matching-files.ts';

export type ResolvedPaths =
  | { readonly ok: true; readonly paths: readonly LockPath[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** By its name as systems store it: composed (é), or decomposed (e and an accent). */
const isInCheckout = async (path: LockPath, checkout: string): Promise<boolean> =>
  (await isFile(join(checkout, path))) || (await isFile(join(checkout, path.normalize('NFD'))));

/** A pattern that leaves the checkout would lock paths that mean something else in the workspace. */
function parsePattern(text: string): Parsed<string> {
  const segments = text.replaceAll('\\', '/').split('/');
  const last = segments.length - 1;
  if (segments[0] === '' || /^[a-z]:$/i.test(segments[0] ?? '')) {
    return refused('A pattern is relative to the checkout: it must not start with / or a drive, nor be empty.');
  }
  if (segments.includes('..')) return refused('A pattern must not leave the checkout with "..".');
  return accepted(segments.filter((segment, index) => index === last || (segment !== '.' && segment !== '')).join('/'));
}

async function expand(pattern: string, checkout: string): Promise<Parsed<readonly LockPath[]>> {
  const files = await matchingFiles(pattern, checkout);
  if (files.length === 0) {
    return refused(
      `No file of the checkout in ${checkout} matches it. Check it out first, or set \`glob: false\` if this is the name of a file.`,
    );
  }
  const paths: LockPath[] = [];
  for (const file of files) {
    const path = parseLockPath(file);
    if (!path.ok) return refused(`It matches the file ${JSON.stringify(file)}, which cannot be locked. ${path.why}`);
    paths.push(path.value);
  }
  return accepted(paths);
}

/** Takes away what has the name of the pattern or matches it; that need not be a file of the checkout. */
function takeAway(pattern: string, from: Set<LockPath>): void {
  const composed = pattern.normalize('NFC');
  for (const path of from) {
    if (path === composed || posix.matchesGlob(path, composed)) from.delete(path);
  }
}

/**
 * The paths that the lines of the input mean, each once, in the order of the lines: a path is itself, a pattern is
 * every file that it matches, and one that starts with `!` takes away from what the lines before it have named.
 */
export async function resolvePaths(lines: readonly PathLine[], checkout: string): Promise<ResolvedPaths> {
  const problems: string[] = [];
  const chosen = new Set<LockPath>();

  async function look(text: string): Promise<Parsed<readonly LockPath[]>> {
    const path = canonicalLockPath(text);
    if (path.ok && (await isInCheckout(path.value, checkout))) return accepted([path.value]);
    const excluding = text.startsWith('!');
    const pattern = parsePattern(excluding ? text.slice(1) : text);
    if (!pattern.ok) return pattern;
    if (!excluding) return expand(pattern.value, checkout);
    takeAway(pattern.value, chosen);
    return accepted([]);
  }

  for (const line of lines) {
    if (line.kind === 'path') {
      chosen.add(line.path);
      continue;
    }
    const found = await look(line.text);
    if (found.ok) for (const path of found.value) chosen.add(path);
    else problems.push(lineProblem('path', line.text, found.why));
  }
  if (problems.length === 0 && lines.length > 0 && chosen.size === 0) {
    problems.push('Input `path` names no path: the lines with "!" take away all that the other lines name.');
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, paths: [...chosen] };
}
