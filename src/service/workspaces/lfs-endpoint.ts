import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { maxRemoteLength, shownRemote } from '../git/remote.ts';
import type { StoredWorkspace, WorkspaceSettings } from './workspaces.ts';

/**
 * URL of the LFS objects of a workspace, without credentials: set by the operator, or derived from the URL of the
 * repository as Git LFS clients do (https://github.com/git-lfs/git-lfs/blob/main/docs/api/server-discovery.md).
 * Undefined if the URL of the remote is not http(s).
 */
export function lfsEndpoint({
  remote,
  lfs_url,
}: StoredWorkspace & Pick<WorkspaceSettings, 'lfs_url'>): string | undefined {
  if (lfs_url !== null) return lfs_url;
  const address = withoutEnd(shownRemote(remote));
  if (!/^https?:/i.test(address)) return undefined;
  return address.endsWith('.git') ? `${address}/info/lfs` : `${address}.git/info/lfs`;
}

/** URL set by the operator. Clients are redirected there, so it must not contain secrets. */
export function parseLfsUrl(text: string): Parsed<string> {
  if (text.length > maxRemoteLength) return refused(`It must not be longer than ${maxRemoteLength} characters.`);
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return refused('It must be like https://host/path.');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    return refused(
      'It must not have a user name or a password: clients of everyone who can see the workspace are sent there.',
    );
  }
  if (url.search !== '' || url.hash !== '') return refused('It must not have a query or a fragment.');
  return accepted(withoutEnd(url.href));
}

const withoutEnd = (address: string): string => address.replace(/(?<!\/)\/+$/, '');
