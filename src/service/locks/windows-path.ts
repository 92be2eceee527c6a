import type { LockPath } from '../../interface/lock-path.ts';

/** See "Naming Files, Paths, and Namespaces" in the Win32 documentation. An extension does not matter. */
const deviceName = /^(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³]|conin\$|conout\$) *(?:\.|$)/i;

const reservedCharacter = /[<>:"|?*]/;

/** Reason why a path is invalid on Windows, or names the same file as a shorter one. Does not quote the path. */
export function windowsPathProblem(path: LockPath): string | undefined {
  if (reservedCharacter.test(path)) {
    return 'A path must not have any of the characters < > : " | ? * on Windows, where a colon names a drive or a part of another file.';
  }
  const segments = path.split('/');
  if (segments.some((segment) => segment.endsWith('.') || segment.endsWith(' '))) {
    return 'A path must not have a segment that ends in a dot or a space: Windows drops both, so that it would be the path of another file.';
  }
  if (segments.some((segment) => deviceName.test(segment))) {
    return 'A path must not have a segment that is the name of a device on Windows, such as CON, NUL, COM1 or LPT1, with or without an extension.';
  }
  return undefined;
}

/**
 * One text for all spellings that differ only in case. NTFS compares with a table of capitals that is stored on each
 * volume when it is formatted. This folds all letters that any of these tables folds, and a few more, such as ſ and s.
 * It may treat two files as one, but never one file as two. Letters are mapped to upper case first, because two
 * lower-case letters may share a capital (σ and ς). Letters are folded without their marks: İ can also be written as I
 * and a dot, which Windows treats as i and a dot. The result is composed again, because an index has no room for three
 * times the length.
 */
export function foldCase(path: string): string {
  let folded = '';
  for (const character of path.normalize('NFD')) {
    const capital = mapped(character, character.toUpperCase());
    folded += mapped(capital, capital.toLowerCase());
  }
  return folded.normalize('NFC');
}

/** As on Windows, a character never maps to several, so ß stays. */
function mapped(character: string, mapping: string): string {
  const [first = character, second] = mapping;
  return second === undefined ? first : character;
}
