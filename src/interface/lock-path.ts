import { accepted, type Parsed, refused } from './parsed.ts';

/** Patterns that no path may match, each with its error. */
const forbidden: readonly (readonly [pattern: RegExp, reason: string])[] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern is meant to match them.
  [/[\x00-\x1f\x7f-\x9f]/, 'A path must not have control characters.'],
  [/\\/, 'A path is written with /, not with a backslash.'],
  [/^\//, 'A path is relative to the workspace: it must not start with /.'],
  [/\/$/, 'A path ends in the name of a file: it must not end with /.'],
  [/\/\//, 'A path must not have an empty segment (two slashes in a row).'],
  [/(?:^|\/)\.{1,2}(?:\/|$)/, 'A path must not have a segment "." or "..".'],
];

/**
 * Matches all forbidden texts, for the schema of a path. Uses only regular expression syntax that every language
 * supports.
 */
export const forbiddenInLockPath = forbidden.map(([{ source }]) => source).join('|');

declare const brand: unique symbol;

/** Maximum number of paths in a lease. */
export const maxLeasePaths = 20_000;

/** If paths are not free, the service names at most this number of them. */
export const maxNamedPaths = 20;

/** The path of a file in a workspace, in canonical form: all spellings of a path have the same one. */
export type LockPath = string & { readonly [brand]: 'LockPath' };

const drive = /^[a-z]:\//i;

/**
 * Parses a path in a workspace as users write it. Backslashes count as slashes, and segments without effect (`./a`,
 * `a//b`, `a/./b`) are removed. Refuses a path that does not name a file in the workspace.
 */
export function canonicalLockPath(text: string, parse: typeof parseLockPath = parseLockPath): Parsed<LockPath> {
  const segments = text.replaceAll('\\', '/').split('/');
  const last = segments.length - 1;
  // Keeps both ends: an empty first segment means the root, and the last one decides whether the path names a file.
  const path = segments
    .filter((segment, index) => index === last || (segment !== '.' && (segment !== '' || index === 0)))
    .join('/');
  const composed = compose(path);
  if (!composed.ok) return composed;
  // Checked after composition, which turns some characters into letters, such as the kelvin sign.
  if (drive.test(composed.value)) {
    return refused('A path is relative to the workspace: it must not start with a drive (C:).');
  }
  return parse(composed.value);
}

export const asOneSegment = (path: LockPath): string => encodeURIComponent(path);

/** The path as several segments of a URL, for servers behind a proxy that rejects encoded slashes. */
export const asSegments = (path: LockPath): string => path.split('/').map(encodeURIComponent).join('/');

/** In bytes of UTF-8, after composition. */
export const maxLockPathBytes = 1_024;

/**
 * NFC never shortens a text to less than a quarter (three jamo become one Hangul syllable; seven bytes become the two
 * of U+0390), so a longer text cannot become a valid path. It is refused before composition, because sorting marks
 * takes time that grows with the square of their number.
 */
const maxUncomposedBytes = 4 * maxLockPathBytes;

const tooLong = `A path must not be longer than ${maxLockPathBytes} bytes.`;

/** Parses the path of a lock in a URL: the part after `/locks/`, exactly as sent. */
export function lockPathFromUrl(raw: string): Parsed<LockPath> {
  // An encoded byte takes at most three characters.
  if (raw.length > 3 * maxUncomposedBytes) return refused(tooLong);
  let text: string;
  try {
    text = decodeURIComponent(raw);
  } catch {
    return refused('The path is not valid percent-encoded UTF-8.');
  }
  return parseLockPath(text);
}

/**
 * Characters that change the direction of text, and the zero-width space. They make a path look like another one. The
 * joiners U+200C and U+200D are allowed, because some scripts need them.
 */
export const misleading = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

export function parseLockPath(text: string): Parsed<LockPath> {
  const path = parseHeldPath(text);
  if (!path.ok || !misleading.test(path.value)) return path;
  return refused(
    'A path must not have characters that change the direction of text, or a zero-width space (U+200B): it would look like another path.',
  );
}

/**
 * Parses the path of a lock that another service may have granted, and that may contain misleading characters. Composes
 * characters (NFC), and refuses a path that needs any other correction.
 */
export function parseHeldPath(text: string): Parsed<LockPath> {
  const composed = compose(text);
  if (!composed.ok) return composed;
  const path = composed.value;
  // No reason contains the path, because callers show it next to the reason, escaped.
  if (path === '') return refused('A path must not be empty.');
  if (isLonger(path, maxLockPathBytes)) return refused(tooLong);
  if (!path.isWellFormed()) return refused('The path is not valid Unicode: it has half of a surrogate pair.');
  const [, reason] = forbidden.find(([pattern]) => pattern.test(path)) ?? [];
  // The only cast to LockPath: the text has just been checked.
  return reason === undefined ? accepted(path as LockPath) : refused(reason);
}

/** Checks a known length first, because each character has at least one byte. */
function compose(text: string): Parsed<string> {
  if (text.length > maxUncomposedBytes || isLonger(text, maxUncomposedBytes)) return refused(tooLong);
  return accepted(text.normalize('NFC'));
}

/** Counts bytes only if there may be too many: a UTF-16 unit takes at most three. */
const isLonger = (text: string, maxBytes: number): boolean =>
  3 * text.length > maxBytes && new TextEncoder().encode(text).length > maxBytes;

export const byPath = (one: { readonly path: string }, other: { readonly path: string }): number =>
  one.path < other.path ? -1 : 1;

/** How long a free path is kept for a person who asked for it. */
export const pathKeptMinutes = 10;

/** Length in characters, as JSON Schema counts them. */
export const maxNoteLength = 200;

/** Control characters, line breaks, and characters that make a text look like another. */
export const forbiddenInNote = `[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]|${misleading.source}`;

const forbiddenNote = new RegExp(forbiddenInNote);

/** A note of the holder for anyone who finds the path locked, or the reason of a forced release. Null if empty. */
export function parseNote(text: string): Parsed<string | null> {
  // A character has at most two UTF-16 units, so a text that is far too long is not split into characters.
  if (text.length > 2 * maxNoteLength || [...text].length > maxNoteLength) {
    return refused(`It must have at most ${maxNoteLength} characters.`);
  }
  if (!text.isWellFormed() || forbiddenNote.test(text)) {
    return refused('It must be one line, without control characters and characters that change the direction of text.');
  }
  const note = text.normalize('NFC').trim();
  return accepted(note === '' ? null : note);
}
