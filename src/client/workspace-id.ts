import { accepted, type Parsed, refused } from '../interface/parsed.ts';

declare const brand: unique symbol;

/** Names a workspace, and cannot lead to anything else when it is part of an address. */
export type WorkspaceId = string & { readonly [brand]: 'WorkspaceId' };

const maxLength = 256;

function whyNot(text: string): string | undefined {
  if (text === '') return 'A workspace must not be empty.';
  if (!text.isWellFormed() || /[\p{Cc}/\\]/u.test(text)) {
    return 'A workspace must not have slashes, backslashes or control characters.';
  }
  if (text === '.' || text === '..') return 'A workspace must not be "." or "..".';
  if (text.length > maxLength) return `A workspace must not be longer than ${maxLength} characters.`;
  return undefined;
}

export function parseWorkspaceId(text: string): Parsed<WorkspaceId> {
  const why = whyNot(text);
  // A brand cannot be computed: this is the one place that gives it, to what has just been examined.
  return why === undefined ? accepted(text as WorkspaceId) : refused(why);
}
