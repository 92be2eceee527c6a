import { errorMessage } from '../../interface/format.ts';

/** Formats an error for users. A bug in the action is named as such, so that nobody looks for it in their network. */
export function errorText(error: unknown): string {
  const text = errorMessage(error);
  if (!isFault(error)) return text;
  return `Internal error: ${text.replace(/\.$/, '')}. This is a bug in the action: report it with the log of a run that has debug logging enabled.`;
}

export const stackLines = (error: unknown): readonly string[] =>
  error instanceof Error ? (error.stack ?? error.message).split('\n') : [];

/** Errors that the language and Node throw for wrong code. Ours have sentences, and no class or one of ours. */
const faults = [TypeError, RangeError, ReferenceError, SyntaxError, URIError];

export const isFault = (error: unknown): boolean =>
  faults.some((fault) => error instanceof fault) ||
  (error instanceof Error && 'code' in error && /^ERR_|^MODULE_NOT_FOUND$/.test(String(error.code)));
