import { redact, spellingsOf } from '../interface/redact.ts';

/**
 * Characters that move the cursor, start a line, or reorder or hide text. A run of them and spaces becomes one space. A
 * string, because V8 would look up these classes of a literal at each start, used or not.
 */
const unsafe = '[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\s]+';

/** Longer texts are cut at this length. */
const maxReadLength = 16_384;

/** A shorter secret would match parts of unrelated words in data. */
const minDataSecretLength = 8;

/** Makes texts from the service safe to display or store. */
export interface Sanitizer {
  /** One line of limited length, without control characters and secrets. HTML is reduced to its text. */
  line(text: string, maxLength: number): string;
  /** A string inside JSON, in which only secrets are replaced. */
  data(text: string): string;
}

export function createSanitizer(secrets: readonly string[]): Sanitizer {
  const anywhere = spellingsOf(secrets);
  const inData = anywhere.filter((secret) => secret.length >= minDataSecretLength);
  const maxSecretLength = anywhere[0]?.length ?? 0;

  return {
    line(text, maxLength) {
      // Redacted before it is truncated, because half of a secret is still secret.
      const redacted = redact(
        htmlToText(text.slice(0, maxReadLength)).replaceAll(new RegExp(unsafe, 'gu'), ' ').trim(),
        anywhere,
      );
      if (text.length <= maxReadLength) return cut(redacted, maxLength);
      // The text that was read may end in the middle of a secret.
      return cut(redacted.slice(0, Math.max(0, redacted.length - maxSecretLength)), maxLength);
    },
    data: (text) => redact(text, inData),
  };
}

/** C0, DEL, C1 and lone surrogates. */
const controlCharacter = /[^ -~\u00a0-\ud7ff\ue000-\u{10ffff}]/gu;

/** Longer than any path or id. */
const maxNameLength = 4_096;

/**
 * More marks on one letter than any language uses (Unicode Standard Annex 15, section 13, "Stream-Safe Text Format").
 * Sorting them takes time that grows with the square of their number, and a list may have thousands of such names.
 */
const tooManyMarks = '\\p{M}{31}';

/**
 * Makes a path or an id from the service comparable with ours: composed, and without control characters. A name that is
 * too long is truncated, and a name with too many marks is not composed.
 */
export function plainName(name: string): string {
  // One more character, so that a name that is too long remains so.
  const read = name.slice(0, maxNameLength + 1);
  const composed = /[^ -~]/.test(read) && !new RegExp(tooManyMarks, 'u').test(read) ? read.normalize('NFC') : read;
  return cut(composed.replaceAll(controlCharacter, '\ufffd'), maxNameLength);
}

/** The body text of an HTML page. Other texts are not changed. */
function htmlToText(text: string): string {
  if (!/^\s*<(!doctype|html|head|body|!--)/i.test(text)) return text;
  return text.slice(Math.max(0, text.search(/<body\b/i))).replaceAll(/<[^<>]*>/g, ' ');
}

function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  // Avoids splitting a surrogate pair.
  return `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
