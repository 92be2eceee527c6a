import { type Duration, parseDurationBetween } from '../../interface/duration.ts';
import { accepted, type Parsed } from '../../interface/parsed.ts';
import { parseTtl } from '../../interface/ttl.ts';
import type { Field } from '../contract/field.ts';
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
  parsePushLockMode,
} from './settings.ts';
import { parseWorkspaceId } from './workspace-id.ts';

interface EnteredRemote {
  /** Includes the credentials. */
  readonly text: string;
  readonly remote: Remote;
}

export const workspaceFields = {
  id: {
    title: 'Name',
    placeholder: 'ID',
    hint: 'the name of the workspace in URLs and commands',
    otherwise: 'required',
    parse: parseWorkspaceId,
  },
  remote: {
    title: 'Git repository',
    placeholder: 'URL',
    hint: 'the git repository to mirror: https://host/path, ssh://user@host/path or user@host:path',
    otherwise: 'required',
    parse: parseAnyRemote,
  },
  desk_ttl: {
    title: "People's locks last",
    placeholder: 'DURATION',
    hint: 'how long a lock of a person lasts, taken on the dashboard or with Git LFS; at most 30d',
    otherwise: `default ${defaultLfsLockTtl}`,
    parse: parseTtl,
  },
  lock_delay: {
    title: 'After a lock has expired',
    placeholder: 'DURATION',
    hint: 'how long a path stays closed after its lock has expired, at most 60s; not after a release',
    otherwise: 'default that of the service',
    parse: parseLockDelay,
  },
  lfs: {
    title: 'LFS objects that a sync fetches',
    placeholder: 'WHICH',
    hint: "which LFS objects a sync fetches: those of the branch's head, or none",
    otherwise: `default ${defaultLfsMode}`,
    parse: parseLfsMode,
  },
  lfs_url: {
    title: 'LFS URL',
    placeholder: 'URL',
    hint: 'the LFS endpoint that has the objects of the workspace, without user name and password',
    otherwise: 'default that of the remote',
    parse: parseLfsUrl,
  },
  latest: {
    title: 'Locks on outdated files',
    placeholder: 'WHAT',
    hint: 'if another branch has a newer version of the file: refuse the lock, warn, or off',
    otherwise: `default ${defaultLatestMode}`,
    parse: parseLatestMode,
  },
  latest_branches: {
    title: 'Branches that locks are compared with',
    placeholder: 'NAMES',
    hint: 'the branches that locks are compared with, separated by commas; * stands for any characters except /',
    otherwise: "default the remote's default branch",
    parse: parseBranchPatterns,
  },
  push_locks: {
    title: 'Which locks block a push',
    placeholder: 'WHICH',
    hint: 'which locks of others block a push: all, or (branch) those taken for that branch or for none',
    otherwise: `default ${defaultPushLockMode}`,
    parse: parsePushLockMode,
  },
} satisfies Readonly<Record<string, Field<unknown>>>;

/** A job that sleeps past the end of its lock may write for a moment when it wakes up. */
export function parseLockDelay(text: string): Parsed<Duration> {
  return parseDurationBetween({ seconds: 0 }, { seconds: 60 })(text);
}

/** Accepts repositories on the disk: whether they are allowed is a separate setting. */
function parseAnyRemote(text: string): Parsed<EnteredRemote> {
  const remote = parseRemote(text, { allowFile: true });
  return remote.ok ? accepted({ text, remote: remote.value }) : remote;
}
