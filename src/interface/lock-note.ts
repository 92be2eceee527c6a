import { misleading } from './lock-path.ts';
import { accepted, type Parsed, refused } from './parsed.ts';

/** How long a free path is kept for a person who has asked for it with a note. */
export const pathKeptMinutes = 10;

/** Length in characters, as JSON Schema counts them. */
export const maxNoteLength = 200;

/** Control characters, line breaks, and characters that make a text look like another one. */
export const forbiddenInNote = `[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]|${misleading.source}`;

const forbidden = new RegExp(forbiddenInNote);

/** A note of the holder for clients that find the path locked, or the reason of a forced release. Null if empty. */
export function parseNote(text: string): Parsed<string | null> {
  // A character has at most two UTF-16 units, so a text that is much too long is not split into characters.
  if (text.length > 2 * maxNoteLength || [...text].length > maxNoteLength) {
    return refused(`It must have at most ${maxNoteLength} characters.`);
  }
  if (!text.isWellFormed() || forbidden.test(text)) {
    return refused('It must be one line, without control characters and characters that change the direction of text.');
  }
  const note = text.normalize('NFC').trim();
  return accepted(note === '' ? null : note);
}
