/** Any text as one word of a POSIX shell or of fish, quoted where it has to be: for commands that people copy, or that scripts contain. */
export const shellWord = (text: string): string =>
  /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
