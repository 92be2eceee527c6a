import { accepted, type Parsed, refused } from './parsed.ts';

/** What no path has anywhere, and the sentence that says so. */
const forbidden: readonly (readonly [pattern: RegExp, reason: string])[] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  [/[\x00-\x1f\x7f-\x9f]/, 'A path must not have control characters.'],
  [/\\/, 'A path is written with /, not with a backslash.'],
  [/^\//, 'A path is relative to the workspace: it must not start with /.'],
  [/\/$/, 'A path ends in the name of a file: it must not end with /.'],
  [/\/\//, 'A path must not have an empty segment (two slashes in a row).'],
  [/(?:^|\/)\.{1,2}(?:\/|$)/, 'A path must not have a segment "." or "..".'],
];

/** Matches what is forbidden, in words of regular expressions that every language has: for the schema of a path. */
export const forbiddenInLockPath = forbidden.map(([{ source }]) => source).join('|');

declare const brand: unique symbol;

/** The path of a file inside a workspace, in the one form that two spellings of the same path share. */
export type LockPath = string & { readonly [brand]: 'LockPath' };

const drive = /^[a-z]:\//i;

/**
 * A path in a workspace as a person writes it: backslashes count as slashes, and segments without effect (`./a`, `a//b`,
 * `a/./b`) are dropped. A path that names no file of the workspace is refused.
 */
export function canonicalLockPath(text: string, parse: typeof parseLockPath = parseLockPath): Parsed<LockPath> {
  const segments = text.replaceAll('\\', '/').split('/');
  const last = segments.length - 1;
  // An empty first segment is the root, and what the path ends in decides whether it names a file: both stay.
  const path = segments
    .filter((segment, index) => index === last || (segment !== '.' && (segment !== '' || index === 0)))
    .join('/');
  const composed = compose(path);
  if (!composed.ok) return composed;
  // Composed first: composition turns some signs into letters, such as the kelvin sign.
  if (drive.test(composed.value)) {
    return refused('A path is relative to the workspace: it must not start with a drive (C:).');
  }
  return parse(composed.value);
}

/** The path as one segment of a URL: its slashes are encoded too. */
export const asOneSegment = (path: LockPath): string => encodeURIComponent(path);

/** The path as several segments of a URL, for servers behind a proxy that does not let an encoded slash through. */
export const asSegments = (path: LockPath): string => path.split('/').map(encodeURIComponent).join('/');

/** In bytes of UTF-8, as they are kept: composed. */
export const maxLockPathBytes = 1_024;

/**
 * NFC leaves less than a quarter of no text (of three jamo, one syllable of Hangul; U+0390, of seven bytes two), so what
 * is longer than this cannot become a path. It is refused before it is composed: marks in the wrong order take time that
 * grows with the square of their number.
 */
const maxUncomposedBytes = 4 * maxLockPathBytes;

const tooLong = `A path must not be longer than ${maxLockPathBytes} bytes.`;

/** The path of a lock that a URL addresses, from the part behind `/locks/` exactly as it was sent. */
export function lockPathFromUrl(raw: string): Parsed<LockPath> {
  // Encoded, a byte is at most three characters.
  if (raw.length > 3 * maxUncomposedBytes) return refused(tooLong);
  let text: string;
  try {
    text = decodeURIComponent(raw);
  } catch {
    return refused('The path is not valid percent-encoded UTF-8.');
  }
  return parseHeldPath(text);
}

/**
 * What turns the direction of text, and the blank that has no width: with them, a path looks like another one. The joiners
 * U+200C and U+200D are letters to some scripts, and stay.
 */
export const misleading = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** A path that can be locked. */
export function parseLockPath(text: string): Parsed<LockPath> {
  const path = parseHeldPath(text);
  if (!path.ok || !misleading.test(path.value)) return path;
  return refused(
    'A path must not have characters that change the direction of text, or a zero-width space (U+200B): it would look like another path.',
  );
}

/**
 * The path of a lock that may be there: one that was taken before misleading characters were refused is still found, and
 * released. Composes the characters (NFC) and repairs nothing else: a path that needs more than that is refused.
 */
export function parseHeldPath(text: string): Parsed<LockPath> {
  const composed = compose(text);
  if (!composed.ok) return composed;
  const path = composed.value;
  const reason = whyNot(path);
  // A brand cannot be computed: this is the one place that gives it, to what has just been examined.
  return reason === undefined ? accepted(path as LockPath) : refused(reason);
}

/** The reason does not contain the path: callers show the path beside it, escaped. */
function whyNot(path: string): string | undefined {
  if (path === '') return 'A path must not be empty.';
  if (bytesIn(path) > maxLockPathBytes) return tooLong;
  if (!path.isWellFormed()) return 'The path is not valid Unicode: it has half of a surrogate pair.';
  const [, reason] = forbidden.find(([pattern]) => pattern.test(path)) ?? [];
  return reason;
}

/** A character has at least one byte, so the length, which is known, is checked first. */
function compose(text: string): Parsed<string> {
  if (text.length > maxUncomposedBytes || bytesIn(text) > maxUncomposedBytes) return refused(tooLong);
  return accepted(text.normalize('NFC'));
}

const bytesIn = (text: string): number => new TextEncoder().encode(text).length;

export const byPath = (one: { readonly path: string }, other: { readonly path: string }): number =>
  one.path < other.path ? -1 : 1;
