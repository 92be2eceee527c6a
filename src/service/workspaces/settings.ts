import { type BranchName, parseBranchName } from '../../interface/branch-name.ts';
import { parseTtl, type Ttl } from '../../interface/duration.ts';
import { accepted, oneOf, type Parsed, refused } from '../../interface/parsed.ts';
import { type Compared, type ComparisonGap, type LatestMode, latestModes } from '../../interface/resources.ts';
import { maxRemoteLength, redactRemote } from '../git/remote.ts';
import type { StoredWorkspace, WorkspaceSettings } from './workspaces.ts';

/**
 * URL of the LFS objects of a workspace, without credentials. Set by the operator, or derived from the URL of the
 * repository like Git LFS clients do (https://github.com/git-lfs/git-lfs/blob/main/docs/api/server-discovery.md).
 * Undefined if the remote does not use http(s).
 */
export function lfsEndpoint({
  remote,
  lfs_url,
}: StoredWorkspace & Pick<WorkspaceSettings, 'lfs_url'>): string | undefined {
  if (lfs_url !== null) return lfs_url;
  const address = withoutEnd(redactRemote(remote));
  if (!/^https?:/i.test(address)) return undefined;
  return address.endsWith('.git') ? `${address}/info/lfs` : `${address}.git/info/lfs`;
}

/** URL set by the operator. Clients are redirected to it, so it must not contain secrets. */
export function parseLfsUrl(text: string): Parsed<string> {
  if (text.length > maxRemoteLength) return refused(`It must not be longer than ${maxRemoteLength} characters.`);
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return refused('It must be like https://host/path.');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    return refused(
      'It must not have a user name or a password: the clients of everyone who sees the workspace are sent there.',
    );
  }
  if (url.search !== '' || url.hash !== '') return refused('It must not have a query or a fragment.');
  return accepted(withoutEnd(url.href));
}

const withoutEnd = (address: string): string => address.replace(/(?<!\/)\/+$/, '');

const modeSetting = <const Mode extends string>(modes: readonly Mode[], otherwise: NoInfer<Mode>) => ({
  default: otherwise,
  parse: oneOf(modes),
  /** An unknown mode, stored by a later version of the service, counts as unset. */
  of: (stored: string | null): Mode => modes.find((mode) => mode === stored) ?? otherwise,
});

/** LFS objects that a sync fetches: those of the current files of the branch, or none. */
export const lfsMode = modeSetting(['head', 'none'], 'head');

export const latestMode = modeSetting(latestModes, 'off');

export const defaultLfsLockTtl = '7d';

/** Ttl of locks acquired with Git LFS. Its requests have no ttl. */
export function lfsLockTtl({ desk_ttl }: Pick<WorkspaceSettings, 'desk_ttl'>): Ttl {
  for (const text of [desk_ttl, defaultLfsLockTtl]) {
    const ttl = parseTtl(text ?? '');
    if (ttl.ok) return ttl.value;
  }
  throw new Error(`${defaultLfsLockTtl} is not a valid ttl.`);
}

const maxPatterns = 20;

/** Names of branches, separated by commas. One `*` between slashes stands for any characters except `/`. */
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
  latest_branches === null ? null : latest_branches.split(',');

function matcher(pattern: string): (branch: string) => boolean {
  const matching = new RegExp(`^${pattern.split('*').map(RegExp.escape).join('[^/]*')}$`);
  return (branch) => matching.test(branch);
}

/** A result without a comparison. It refuses the lock if the workspace refuses outdated files. */
export const uncompared = (latest: LatestMode, gap: ComparisonGap): Compared => ({
  latest,
  outdated: [],
  as_of: null,
  gap,
});
