// Not node:fs/promises: Node loads `promises`, and many modules with it, only on first use.
import { promises } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { closestPath } from '../../interface/closest-name.ts';
import { pluralize } from '../../interface/format.ts';
import { canonicalLockPath, type LockPath, parseLockPath } from '../../interface/lock-path.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { quoteForLog } from '../../interface/safe-text.ts';
import { type Checkout, isFile, openCheckout } from '../../locks/checkout.ts';
import { InputError, lineProblem } from '../inputs/read.ts';
import { isMistake, isPattern } from '../inputs/table.ts';

interface ResolveOptions {
  /** If false, each line is used verbatim. */
  readonly glob: boolean;
  readonly runner: { readonly checkout: string };
  readonly log: { warn(text: string): void };
  /** The locks of the job. Their paths need no files, and patterns match them, too. */
  readonly held?: Pick<ReadonlyMap<LockPath, unknown>, 'has' | 'keys'>;
}

interface ResolvedPaths {
  /** The paths of the input: named by a line, or matched by a pattern. */
  readonly paths: ReadonlyMap<LockPath, 'named' | 'matched'>;
  /** Whether a line is a pattern, even if other lines name or exclude all that it matches. */
  readonly hasPattern: boolean;
}

/**
 * Resolves the lines of the input to unique paths, in the order of the lines. A path stands for itself, and a pattern
 * for each file that it matches. A pattern that starts with `!` removes paths of earlier lines. Throws an InputError
 * with all problems.
 */
export async function resolvePaths(lines: readonly string[], options: ResolveOptions): Promise<ResolvedPaths> {
  const { glob, runner, log, held = new Map<LockPath, unknown>() } = options;
  const checkout = openCheckout(runner.checkout);
  const problems: string[] = [];
  const chosen = new Map<LockPath, 'named' | 'matched'>();
  /** Lines that name neither a file nor a lock, by path. */
  const unknown = new Map<LockPath, string>();
  let hasPattern = false;

  async function choosePattern(text: string): Promise<void> {
    const excluding = text.startsWith('!');
    const pattern = parsePattern(excluding ? text.slice(1) : text);
    if (pattern.ok && excluding) {
      const matches = createMatcher(pattern.value);
      for (const path of chosen.keys()) if (matches(path)) chosen.delete(path);
      return;
    }
    hasPattern = true;
    const matched = pattern.ok ? await expand(pattern.value, runner.checkout, held.keys()) : pattern;
    if (!matched.ok) problems.push(lineProblem('path', text, matched.reason));
    else for (const path of matched.value) chosen.set(path, chosen.get(path) ?? 'matched');
  }

  async function choose(text: string): Promise<void> {
    const name = canonicalLockPath(text);
    const entry = name.ok && glob ? checkout.find(name.value) : undefined;
    const isKnown = name.ok && (!glob || entry === 'file' || (!isPattern(text) && held.has(name.value)));
    if (isKnown) chosen.set(name.value, 'named');
    else if (name.ok && entry === 'folder') problems.push(lineProblem('path', text, folderText(name.value, checkout)));
    else if (isPattern(text)) await choosePattern(text);
    else if (isMistake(text)) problems.push(lineProblem('path', text, mistakeText));
    else if (name.ok) {
      chosen.set(name.value, 'named');
      unknown.set(name.value, unknown.get(name.value) ?? text);
    }
  }

  for (const line of lines) await choose(line);
  if (problems.length === 0 && lines.length > 0 && chosen.size === 0) {
    problems.push('Input `path` selects nothing: its lines with "!" exclude everything that the other lines select.');
  }
  if (problems.length > 0) throw new InputError(problems);
  const unknownLines = [...unknown].flatMap(([path, text]) => (chosen.has(path) ? [text] : []));
  // Before a checkout, no path has a file.
  if (unknownLines.length > 0 && !checkout.isEmpty()) log.warn(unknownLinesText(unknownLines, checkout));
  return { paths: chosen, hasPattern };
}

const mistakeText =
  'Write only a path of the workspace, without list marker, quotes, comment or shell variable. If a file has this name, set `glob: false`.';

/** `?` replaces characters with a meaning in patterns. */
const folderText = (path: LockPath, { folder }: Checkout): string =>
  `It is a folder of the checkout in ${folder}. Write \`${path.replace(/[*?[\]{}()!]/g, '?')}/**\` for the files below it. To use the path of the folder itself, set \`glob: false\`.`;

/** Rejects patterns that leave the checkout, because such paths mean something else in the workspace. */
function parsePattern(text: string): Parsed<string> {
  const segments = text.replaceAll('\\', '/').split('/');
  const last = segments.length - 1;
  if (segments[0] === '' || /^[a-z]:$/i.test(segments[0] ?? '')) {
    return refused('A pattern is relative to the checkout: it must not start with / or a drive, nor be empty.');
  }
  if (segments.includes('..')) return refused('A pattern must not leave the checkout with "..".');
  return accepted(segments.filter((segment, index) => index === last || (segment !== '.' && segment !== '')).join('/'));
}

async function expand(
  pattern: string,
  checkout: string,
  held: IteratorObject<LockPath>,
): Promise<Parsed<readonly LockPath[]>> {
  const paths = new Set(held.filter(createMatcher(pattern)));
  const files = await matchingFiles(pattern, checkout);
  if (files.length === 0 && paths.size === 0) return refused(noFileText(checkout));
  for (const file of files) {
    const path = parseLockPath(file);
    if (!path.ok) return refused(`It matches the file ${JSON.stringify(file)}, which cannot be locked. ${path.reason}`);
    paths.add(path.value);
  }
  return accepted([...paths]);
}

/** A pattern also matches its own text, because that path may have been locked with `glob: false`. */
function createMatcher(pattern: string): (path: string) => boolean {
  const composed = pattern.normalize('NFC');
  return (path) => path === composed || posix.matchesGlob(path, composed);
}

/** The files that a pattern matches, relative to the checkout and sorted by name. */
async function matchingFiles(pattern: string, checkout: string): Promise<readonly string[]> {
  const found = new Set<string>();
  // Some systems store names composed (é), others decomposed (e and an accent). glob() compares the stored form.
  for (const spelling of new Set([pattern, pattern.normalize('NFC'), pattern.normalize('NFD')])) {
    for await (const entry of promises.glob(spelling, { cwd: checkout, withFileTypes: true })) {
      if (isFile(entry)) found.add(inUrlOrder(relative(checkout, join(entry.parentPath, entry.name))));
    }
  }
  return [...found].sort();
}

const inUrlOrder = (path: string): string => (sep === '\\' ? path.replaceAll('\\', '/') : path);

const noFileText = (checkout: string): string =>
  `No file of the checkout in ${checkout} matches it, and no lock of this job. Check it out first, or set \`glob: false\` if this is the name of a file.`;

/** A longer list would not help, and each line reads folders of the checkout. */
const maxListed = 5;

/** One warning about all lines that name neither a file of the checkout nor a lock of the job. */
export function unknownLinesText(lines: readonly string[], checkout: Checkout): string {
  const listed = lines.slice(0, maxListed).map((line) => {
    const suggestion = suggestionFor(line, checkout);
    return quoteForLog(line) + (suggestion === undefined ? '' : ` (${suggestion})`);
  });
  const more = lines.length > maxListed ? ` and ${pluralize(lines.length - maxListed, 'more', 'more')}` : '';
  const number = pluralize(lines.length, 'line', 'lines');
  return `${number} of \`path\` ${lines.length === 1 ? 'names' : 'name'} no file of the checkout in ${checkout.folder}: ${listed.join(', ')}${more}. To use paths that have no file, set \`glob: false\`.`;
}

/** A suggestion for the line; undefined if nothing in the checkout is similar. */
export function suggestionFor(line: string, checkout: Checkout): string | undefined {
  const path = canonicalLockPath(line);
  const closest = path.ok ? closestPath(path.value, checkout.namesIn) : undefined;
  if (closest === undefined) return undefined;
  return `did you mean ${quoteForLog(checkout.find(closest) === 'folder' ? `${closest}/**` : closest)}?`;
}
