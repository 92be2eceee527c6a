import type { LockPath } from '../../interface/lock-path.ts';

/** "Naming Files, Paths, and Namespaces" of the Win32 documentation: also with an extension, and spaces before it. */
const deviceName = /^(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³]|conin\$|conout\$) *(?:\.|$)/i;

const reservedCharacter = /[<>:"|?*]/;

/** Why no file on Windows has a path, or why its file has a shorter name too. Like every reason, it repeats nothing of the path. */
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
 * One text for all spellings that differ only by the case of letters. NTFS compares by a table of capitals that each volume
 * was formatted with. This joins what any of them does and a few letters more, such as ſ with s: it may keep apart two files
 * too few, and never takes one file for two. Capitals come first, as two small letters may share one (σ and ς). Letters are
 * folded apart from their marks: İ is also written as I and a dot, and Windows takes those for i and a dot. They are composed
 * again, because an index has no room for three times the length.
 */
export function foldCase(path: string): string {
  let folded = '';
  for (const character of path.normalize('NFD')) {
    const capital = mapped(character, character.toUpperCase());
    folded += mapped(capital, capital.toLowerCase());
  }
  return folded.normalize('NFC');
}

/** As Windows does it: no character becomes several, so that ß stays. */
function mapped(character: string, mapping: string): string {
  const [first = character, second] = mapping;
  return second === undefined ? first : character;
}
