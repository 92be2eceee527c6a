/** Like shellQuoted(), but adds quotes only if a shell needs them. */
export const shellWord = (text: string): string => (/^[\w./:@-]+$/.test(text) ? text : shellQuoted(text));

/** Quotes a text as a single word of a POSIX shell or fish. In a sentence, the quotes also show where it ends. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
