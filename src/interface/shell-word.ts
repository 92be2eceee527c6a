/** Like shellQuoted, but with quotes only if a shell needs them. */
export const shellWord = (text: string): string => (/^[\w./:@-]+$/.test(text) ? text : shellQuoted(text));

/** Quotes a text as one word of a POSIX shell or of fish. The quotes also mark its end in a sentence. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
