import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

declare const brand: unique symbol;

/** The short name of a branch: what stands behind `refs/heads/`. */
export type BranchName = string & { readonly [brand]: 'BranchName' };

export const longestBranchName = 255;

const tooLong = `The name of a branch must not be longer than ${longestBranchName} bytes.`;

/** The rules of git-check-ref-format(1) for `refs/heads/<name>`, and of git-branch(1) for the short name. */
function whyNot(name: string): string | undefined {
  if (name === '') return 'The name of a branch must not be empty.';
  if (name.length > longestBranchName) return tooLong;
  if (!name.isWellFormed()) return 'The name of the branch is not valid Unicode: it has half of a surrogate pair.';
  if (new TextEncoder().encode(name).length > longestBranchName) return tooLong;
  if (name.startsWith('-')) return 'The name of a branch must not start with -.';
  if (name.startsWith('refs/')) return 'A branch is given by its short name, without refs/heads/.';
  if (name === 'HEAD' || name === '@')
    return 'This name means whatever is checked out; a branch has a name of its own.';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for. git lets C1 controls through.
  if (/[\u0000-\u001f\u007f]/.test(name)) return 'The name of a branch must not have control characters.';
  if (/[ ~^:?*[\\]/.test(name)) return 'The name of a branch must not have a space or any of ~ ^ : ? * [ \\.';
  if (name.includes('..')) return 'The name of a branch must not have two dots in a row.';
  if (name.includes('@{')) return 'The name of a branch must not have @{.';
  if (name.endsWith('.')) return 'The name of a branch must not end with a dot.';
  const parts = name.split('/');
  if (parts.includes('')) return 'The name of a branch must not start or end with /, nor have two in a row.';
  if (parts.some((part) => part.startsWith('.'))) return 'No part of the name of a branch may start with a dot.';
  if (parts.some((part) => part.endsWith('.lock'))) return 'No part of the name of a branch may end with .lock.';
  return undefined;
}

const isBranchName = (text: string): text is BranchName => whyNot(text) === undefined;

export function parseBranchName(text: string): Parsed<BranchName> {
  return isBranchName(text) ? accepted(text) : refused(whyNot(text) ?? '');
}

export const branchRef = (branch: BranchName): string => `refs/heads/${branch}`;
