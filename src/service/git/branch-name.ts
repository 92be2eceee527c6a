import type { BranchName } from '../../interface/branch-name.ts';

export {
  type BranchName,
  forbiddenInBranchName,
  maxBranchNameLength,
  parseBranchName,
} from '../../interface/branch-name.ts';

/** The head of each branch. */
export type BranchHeads = ReadonlyMap<BranchName, string>;

/** The brand exists only at compile time. */
export const mainBranch = 'main' as BranchName;

export const branchRef = (branch: BranchName): string => `refs/heads/${branch}`;
