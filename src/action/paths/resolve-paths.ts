// Not node:fs/promises: Node loads `promises`, and much with it, when it is first used.
import { type Dirent, promises } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { canonicalLockPath, type LockPath, parseLockPath } from '../../interface/lock-path.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { PathLine } from '../inputs/parse.ts';
import { lineProblem } from '../inputs/reader.ts';
import { InputError } from '../outcome.ts';

/** As long as the longest path. */
const maxLength = 1_024;

/**
 * Each `*` is tried at every position of a name, for every position of those before it. On a name of 255 letters, three
 * that do not match take some 40 ms, four 2 s, and five more than a minute.
 */
const maxStarsInSegment = 3;

/** Each alternative is a pattern of its own. */
const maxAlternatives = 256;

const innermostBraces = /\{([^{}]*)\}/;

function rangeSize(text: string): number | undefined {
  const [, from, to] = /^(-?\d{1,15})\.\.(-?\d{1,15})(?:\.\.-?\d{1,15})?$/.exec(text) ?? [];
  return from === undefined || to === undefined ? undefined : Math.abs(Number(to) - Number(from)) + 1;
}

/** How many alternatives the braces of a pattern expand to, or more; stops counting beyond the limit. */
function alternatives(pattern: string): number {
  let rest = pattern;
  let product = 1;
  for (let found = innermostBraces.exec(rest); found !== null; found = innermostBraces.exec(rest)) {
    const [braces, inner = ''] = found;
    product *= rangeSize(inner) ?? inner.split(',').length;
    if (product > maxAlternatives) return product;
    rest = rest.slice(0, found.index) + rest.slice(found.index + braces.length);
  }
  return product;
}

const starsIn = (segment: string): number => (segment === '**' ? 0 : segment.split('*').length - 1);

/** A repeated group of parts that vary: `+(a|aa)` matches a name in more ways than can be tried. */
const repeatedGroup = /[*+]\([^)]*[|*+?(]/;

/** Why a pattern could take forever on an unlucky name; undefined if it is fast on every name. */
export function whyNotQuick(pattern: string): string | undefined {
  if (pattern.length > maxLength) return `A pattern has at most ${maxLength} characters.`;
  if (alternatives(pattern) > maxAlternatives) {
    return `The braces of a pattern stand for at most ${maxAlternatives} alternatives. Write it as several lines.`;
  }
  if (repeatedGroup.test(pattern)) {
    return 'A group that is repeated, *(…) or +(…), must not have alternatives or wildcards in it: to match it could take for ever.';
  }
  if (pattern.split('/').some((segment) => starsIn(segment) > maxStarsInSegment)) {
    return `A pattern has at most ${maxStarsInSegment} asterisks between two slashes: more could take minutes on one name.`;
  }
  return undefined;
}

/** A path that the input stands for: named by a line, or matched by a pattern. */
export interface ResolvedPath {
  readonly kind: 'named' | 'matched';
  readonly path: LockPath;
}

export interface ResolveOptions {
  readonly checkout: string;
  /** Further paths that patterns match, whether or not the checkout has them. */
  readonly lockedPaths?: readonly LockPath[];
}

const isFile = (path: string): Promise<boolean> =>
  promises.stat(path).then(
    (entry) => entry.isFile(),
    () => false,
  );

const inUrlOrder = (path: string): string => (sep === '\\' ? path.replaceAll('\\', '/') : path);

/** A link to a file counts as a file: in the repository it is one. */
const standsForFile = async (entry: Dirent): Promise<boolean> =>
  entry.isFile() || (entry.isSymbolicLink() && (await isFile(join(entry.parentPath, entry.name))));

/** The files that a pattern matches, relative to the checkout and sorted by name. */
async function matchingFiles(pattern: string, checkout: string): Promise<readonly string[]> {
  const found = new Set<string>();
  // Some systems store names composed (é), some decomposed (e and an accent), and a pattern is compared with what is stored.
  for (const spelling of new Set([pattern, pattern.normalize('NFC'), pattern.normalize('NFD')])) {
    for await (const entry of promises.glob(spelling, { cwd: checkout, withFileTypes: true })) {
      if (await standsForFile(entry)) found.add(inUrlOrder(relative(checkout, join(entry.parentPath, entry.name))));
    }
  }
  return [...found].sort();
}

/** File systems store names composed (é) or decomposed (e and an accent). */
const isInCheckout = async (path: LockPath, checkout: string): Promise<boolean> =>
  (await isFile(join(checkout, path))) || (await isFile(join(checkout, path.normalize('NFD'))));

/** A pattern that leaves the checkout would lock paths that mean something else in the workspace. */
function parsePattern(text: string): Parsed<string> {
  const slow = whyNotQuick(text.replaceAll('\\', '/'));
  if (slow !== undefined) return refused(slow);
  const segments = text.replaceAll('\\', '/').split('/');
  const last = segments.length - 1;
  if (segments[0] === '' || /^[a-z]:$/i.test(segments[0] ?? '')) {
    return refused('A pattern is relative to the checkout: it must not start with / or a drive, nor be empty.');
  }
  if (segments.includes('..')) return refused('A pattern must not leave the checkout with "..".');
  return accepted(segments.filter((segment, index) => index === last || (segment !== '.' && segment !== '')).join('/'));
}

/** The text of the pattern matches itself: it may have been locked with `glob: false`. */
function createMatcher(pattern: string): (path: LockPath) => boolean {
  const composed = pattern.normalize('NFC');
  return (path) => path === composed || posix.matchesGlob(path, composed);
}

async function expand(
  pattern: string,
  { checkout, lockedPaths }: Required<ResolveOptions>,
): Promise<Parsed<readonly LockPath[]>> {
  const paths = new Set(lockedPaths.filter(createMatcher(pattern)));
  const files = await matchingFiles(pattern, checkout);
  if (files.length === 0 && paths.size === 0) {
    return refused(
      `No file of the checkout in ${checkout} matches it. Check it out first, or set \`glob: false\` if this is the name of a file.`,
    );
  }
  for (const file of files) {
    const path = parseLockPath(file);
    if (!path.ok) return refused(`It matches the file ${JSON.stringify(file)}, which cannot be locked. ${path.why}`);
    paths.add(path.value);
  }
  return accepted([...paths]);
}

/**
 * The paths that the lines of the input stand for, each once, in the order of the lines: a path is itself, a pattern is
 * every file it matches, and one that starts with `!` removes paths of the lines before it. Throws an InputError with
 * everything that is wrong.
 */
export async function resolvePaths(
  lines: readonly PathLine[],
  { checkout, lockedPaths = [] }: ResolveOptions,
): Promise<readonly ResolvedPath[]> {
  const problems: string[] = [];
  const chosen = new Map<LockPath, ResolvedPath['kind']>();

  function takeAway(pattern: string): void {
    const matches = createMatcher(pattern);
    for (const path of chosen.keys()) if (matches(path)) chosen.delete(path);
  }

  async function choosePattern(text: string): Promise<void> {
    const name = canonicalLockPath(text);
    if (name.ok && (await isInCheckout(name.value, checkout))) {
      chosen.set(name.value, 'named');
      return;
    }
    const excluding = text.startsWith('!');
    const pattern = parsePattern(excluding ? text.slice(1) : text);
    if (pattern.ok && excluding) return takeAway(pattern.value);
    const matched = pattern.ok ? await expand(pattern.value, { checkout, lockedPaths }) : pattern;
    if (!matched.ok) problems.push(lineProblem('path', text, matched.why));
    else for (const path of matched.value) chosen.set(path, chosen.get(path) ?? 'matched');
  }

  for (const line of lines) {
    if (line.kind === 'path') chosen.set(line.path, 'named');
    else await choosePattern(line.text);
  }
  if (problems.length === 0 && lines.length > 0 && chosen.size === 0) {
    problems.push('Input `path` names no path: the lines with "!" remove everything the other lines name.');
  }
  if (problems.length > 0) throw new InputError(problems);
  return [...chosen].map(([path, kind]) => ({ kind, path }));
}
