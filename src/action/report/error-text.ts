/** An error as a person reads it. A fault of our own code is called that: nobody should look for it in their network. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (!isFault(error)) return text;
  return `Internal error: ${text.replace(/\.$/, '')}. This is a bug in the action: report it with the log of a run that has debug logging enabled.`;
}

export const stackLines = (error: unknown): readonly string[] =>
  error instanceof Error ? (error.stack ?? error.message).split('\n') : [];

/** What the language and Node throw at wrong code. Our own errors are plain, or of our own classes, and have sentences. */
const faults = [TypeError, RangeError, ReferenceError, SyntaxError, URIError];

export const isFault = (error: unknown): boolean =>
  faults.some((fault) => error instanceof fault) ||
  (error instanceof Error && 'code' in error && /^ERR_|^MODULE_NOT_FOUND$/.test(String(error.code)));
