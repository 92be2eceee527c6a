import { oneOf } from '../../interface/one-of.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import {
  type Compared,
  type ComparisonGap,
  type LatestMode,
  latestModes,
  type PushLockMode,
  pushLockModes,
} from '../../interface/resources.ts';
import { type BranchName, parseBranchName } from '../git/branch-name.ts';
import type { WorkspaceSettings } from './workspaces.ts';

export const defaultLatestMode: LatestMode = 'off';

/** An unknown mode, which a later version of the service has stored, counts as unset. */
export const latestMode = ({ latest }: Pick<WorkspaceSettings, 'latest'>): LatestMode =>
  latestModes.find((mode) => mode === latest) ?? defaultLatestMode;

export const parseLatestMode = oneOf(latestModes);

export const defaultPushLockMode: PushLockMode = 'all';

export const pushLockMode = ({ push_locks }: Pick<WorkspaceSettings, 'push_locks'>): PushLockMode =>
  pushLockModes.find((mode) => mode === push_locks) ?? defaultPushLockMode;

export const parsePushLockMode = oneOf(pushLockModes);

const maxPatterns = 20;

/** Names of branches, separated by commas, in which one `*` between slashes stands for any characters except `/`. */
export function parseBranchPatterns(text: string): Parsed<readonly string[]> {
  const patterns = [...new Set(text.split(',').map((pattern) => pattern.trim()))];
  if (patterns.length > maxPatterns) return refused(`It must not have more than ${maxPatterns} names.`);
  for (const pattern of patterns) {
    const name = parseBranchName(pattern.replaceAll('*', 'x'));
    if (!name.ok) return refused(name.reason);
    if (/\*[^/]*\*/.test(pattern)) return refused('It may have only one * between slashes.');
  }
  return accepted(patterns);
}

/** Tests whether locks are compared with a branch. */
export function comparedWith(
  settings: Pick<WorkspaceSettings, 'latest_branches'>,
  defaultBranch: BranchName | undefined,
): (branch: string) => boolean {
  const matchers = patternsOf(settings)?.map(matcher) ?? [(branch: string) => branch === defaultBranch];
  return (branch) => matchers.some((matches) => matches(branch));
}

/** Null for the default branch of the remote. */
export const patternsOf = ({
  latest_branches,
}: Pick<WorkspaceSettings, 'latest_branches'>): readonly string[] | null =>
  // Only parsed patterns are stored.
  latest_branches === null ? null : (JSON.parse(latest_branches) as readonly string[]);

function matcher(pattern: string): (branch: string) => boolean {
  const matching = new RegExp(`^${pattern.split('*').map(RegExp.escape).join('[^/]*')}$`);
  return (branch) => matching.test(branch);
}

/** A result without a comparison: refuses the lock if the workspace refuses outdated files. */
export const uncompared = (latest: LatestMode, gap: ComparisonGap): Compared => ({
  latest,
  outdated: [],
  as_of: null,
  gap,
});
