import { misleading } from './lock-path.ts';
import { accepted, type Parsed, refused } from './parsed.ts';

/** In characters, as JSON Schema counts them. */
export const maxNoteLength = 200;

/** Control characters, ends of lines, and what makes text look like another. */
export const forbiddenInNote = `[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]|${misleading.source}`;

const forbidden = new RegExp(forbiddenInNote);

/** A note of the holder for clients that find the path locked, or the reason of a forced release. Null: none. */
export function parseNote(text: string): Parsed<string | null> {
  // A character has at most two units, so what is much too long is not taken apart to find out.
  if (text.length > 2 * maxNoteLength || [...text].length > maxNoteLength) {
    return refused(`It has at most ${maxNoteLength} characters.`);
  }
  if (!text.isWellFormed() || forbidden.test(text)) {
    return refused('It is one line, without control characters and characters that change the direction of text.');
  }
  const note = text.normalize('NFC').trim();
  return accepted(note === '' ? null : note);
}
