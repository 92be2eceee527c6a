import { accepted, type Parsed, refused } from './parsed.ts';

/** The rules of git-check-ref-format(1) for `refs/heads/<name>`, and of git-branch(1) for the short name. */
const forbidden: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^-/, 'The name of a branch must not start with -.'],
  [/^refs\//, 'Use the short name of the branch, without refs/heads/.'],
  [/^(?:HEAD|@)$/, 'HEAD and @ are not names of branches.'],
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it must match control characters. git allows C1 controls.
  [/[\x00-\x1f\x7f]/, 'The name of a branch must not have control characters.'],
  [/[ ~^:?*[\\]/, 'The name of a branch must not have a space or any of ~ ^ : ? * [ \\.'],
  [/\.\./, 'The name of a branch must not have two dots in a row.'],
  [/@\{/, 'The name of a branch must not have @{.'],
  [/\.$/, 'The name of a branch must not end with a dot.'],
  [/^\/|\/$|\/\//, 'The name of a branch must not start or end with /, nor have two in a row.'],
  [/(?:^|\/)\./, 'No part of the name of a branch may start with a dot.'],
  [/\.lock(?:\/|$)/, 'No part of the name of a branch may end with .lock.'],
];

/** Forbidden patterns for the schema of a name, in regular expression syntax that is common to all languages. */
export const forbiddenInBranchName = forbidden.map(([{ source }]) => source).join('|');

declare const brand: unique symbol;

export type BranchName = string & { readonly [brand]: 'BranchName' };

export function parseBranchName(text: string): Parsed<BranchName> {
  const reason = problem(text);
  // The brand exists only at compile time.
  return reason === undefined ? accepted(text as BranchName) : refused(reason);
}

export const maxBranchNameLength = 255;
const tooLong = `The name of a branch must not be longer than ${maxBranchNameLength} bytes.`;

function problem(name: string): string | undefined {
  if (name === '') return 'The name of a branch must not be empty.';
  if (name.length > maxBranchNameLength) return tooLong;
  if (!name.isWellFormed()) return 'The name of the branch is not valid Unicode: it has half of a surrogate pair.';
  if (new TextEncoder().encode(name).length > maxBranchNameLength) return tooLong;
  const [, reason] = forbidden.find(([pattern]) => pattern.test(name)) ?? [];
  return reason;
}
