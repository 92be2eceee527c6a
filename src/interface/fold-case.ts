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
