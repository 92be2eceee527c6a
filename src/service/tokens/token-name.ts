import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

const longestName = 100;

/** NFC leaves at least a quarter of a text: what is longer than this is too long, and is not composed to find out. */
const longestUncomposed = 4 * longestName;

/** The name becomes the owner of the token's locks, so people have to be able to read it. */
export function parseTokenName(text: string): Parsed<string> {
  const trimmed = text.trim();
  const name = trimmed.length > longestUncomposed ? trimmed : trimmed.normalize('NFC').trim();
  if (name === '') return refused('A token needs a name: it is shown as the owner of its locks.');
  if (name.length > longestName) return refused(`A token's name has at most ${longestName} characters.`);
  if (/\p{C}/u.test(name)) return refused("A token's name must not have control or invisible characters.");
  return accepted(name);
}
