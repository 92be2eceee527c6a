import { optional, required } from '../../command/flags.ts';
import { accepted, type Parsed } from '../../interface/parsed.ts';
import { parseTtl } from '../../interface/ttl.ts';
import { parseRemote, type Remote } from '../git/remote.ts';
import {
  defaultLatestMode,
  defaultLfsLockTtl,
  defaultLfsMode,
  defaultPushLockMode,
  parseBranchPatterns,
  parseLatestMode,
  parseLfsMode,
  parseLfsUrl,
  parseLockDelay,
  parsePushLockMode,
} from '../workspaces/settings.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';

const remoteHint = 'the git repository to mirror: https://host/path, ssh://user@host/path or user@host:path';

/** Accepts repositories on the disk: whether they are allowed is a separate setting. `text` includes the credentials. */
function parseAnyRemote(text: string): Parsed<{ readonly text: string; readonly remote: Remote }> {
  const remote = parseRemote(text, { allowFile: true });
  return remote.ok ? accepted({ text, remote: remote.value }) : remote;
}

export const idArgument = required('ID', 'the name of the workspace in URLs and commands', parseWorkspaceId);

export const remoteFlag = required('URL', remoteHint, parseAnyRemote, { secret: true });

export const optionalRemoteFlag = optional('URL', remoteHint, parseAnyRemote, undefined, { secret: true });

const orNone =
  <T>(parse: (text: string) => Parsed<T>) =>
  (text: string): Parsed<T | null> =>
    text === 'none' ? accepted(null) : parse(text);

export const settingFlags = {
  deskTtl: optional(
    'DURATION',
    'how long a lock lasts that a person takes on the dashboard or with Git LFS; at most 30d',
    parseTtl,
    `default ${defaultLfsLockTtl}`,
  ),
  lfsUrl: optional(
    'URL',
    'the LFS endpoint that has the objects of the workspace, without user name and password; none for that of the remote',
    orNone(parseLfsUrl),
    'default that of the remote',
  ),
  lfs: optional(
    'WHICH',
    "which LFS objects a sync fetches: those of the branch's head, or none",
    parseLfsMode,
    `default ${defaultLfsMode}`,
  ),
  lockDelay: optional(
    'DURATION',
    'how long a path stays closed after its lock has expired, at most 60s; not after a release; none for that of the service',
    orNone(parseLockDelay),
    'default that of the service',
  ),
  latest: optional(
    'WHAT',
    'if another branch has a newer version of the file: refuse the lock, warn, or off',
    parseLatestMode,
    `default ${defaultLatestMode}`,
  ),
  latestBranches: optional(
    'NAMES',
    'the branches that locks are compared with, separated by commas; * stands for any characters except /',
    parseBranchPatterns,
    "default the remote's default branch",
  ),
  pushLocks: optional(
    'WHICH',
    'which locks of others block a push: all, or (branch) those taken for that branch or for none',
    parsePushLockMode,
    `default ${defaultPushLockMode}`,
  ),
};
