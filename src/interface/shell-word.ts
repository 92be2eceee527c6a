/** The same, with quotes only where a shell needs them. */
export const shellWord = (text: string): string => (/^[\w./:@-]+$/.test(text) ? text : shellQuoted(text));

/** Any text as one word of a POSIX shell or of fish, in quotes, so that it also has a clear end in a sentence. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
