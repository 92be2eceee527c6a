import { CommandError } from '../../command/command.ts';
import { type Flags, type FlagValues, optional, toggle } from '../../command/flags.ts';
import { type OutputBlock, textTable } from '../../command/print.ts';
import { formatDuration, milliseconds } from '../../interface/duration.ts';
import { pluralize } from '../../interface/format.ts';
import { accepted } from '../../interface/parsed.ts';
import { byteSize } from '../../interface/transfer.ts';
import type { Field } from '../contract/field.ts';
import { createGit } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import type { Remote } from '../git/remote.ts';
import type { RemoteBranches } from '../git/remote-branches.ts';
import { workspaceFields } from '../workspaces/fields.ts';
import { latestMode, lfsEndpoint, lfsLockTtl, lfsMode, patternsOf, pushLockMode } from '../workspaces/settings.ts';
import {
  type FoundWorkspace,
  findWorkspace,
  updateWorkspaceAudited,
  type WorkspaceSettings,
} from '../workspaces/workspaces.ts';
import { defineStorageCommand, operatorActor } from './storage-command.ts';
import { optionalField, parseByteLimit, workspaceArgument } from './values.ts';

export const remoteFlags = {
  noCheck: toggle('store the remote without contacting it'),
  allowFileRemotes: toggle('allow a repository on this machine as the remote'),
};

interface RemoteFlagValues extends FlagValues<typeof remoteFlags> {
  /** May be a file: connectionProblem() checks it against `allowFileRemotes`. */
  readonly remote: { readonly remote: Remote } | undefined;
}

export const connectionProblem = ({ remote, allowFileRemotes }: RemoteFlagValues) =>
  remote?.remote.kind === 'file' && !allowFileRemotes
    ? ['--remote is a repository on this machine. Allow it with --allow-file-remotes, here and for the service.']
    : [];

const queueTimeout = { timeoutMs: 10_000 };

/** Null if the remote is not contacted: with --no-check or without a remote. */
export async function contactRemote(
  { data, remote, noCheck, allowFileRemotes }: RemoteFlagValues & { readonly data: string },
  environment: NodeJS.ProcessEnv,
  done: 'added' | 'changed',
): Promise<RemoteBranches | null> {
  if (noCheck || remote === undefined) return null;
  const git = createGit({ dataFolder: data, allowFile: allowFileRemotes, environment });
  try {
    return await git.branches(remote.remote, queueTimeout);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    // The output of git may end without a period.
    const sentence = error.message.replace(/[^.!?]$/, '$&.');
    throw new CommandError(
      `${sentence} Nothing was ${done}. Use --no-check to store it without contacting the remote.`,
    );
  }
}

export function remoteSummary(remote: RemoteBranches | null): string {
  if (remote === null) return 'The remote was not contacted.';
  const { branches, defaultBranch } = remote;
  if (branches.size === 0) return 'The remote responds; it has no branches yet.';
  const main = defaultBranch === undefined ? '' : `, ${defaultBranch} by default`;
  return `The remote responds; it has ${pluralize(branches.size, 'branch', 'branches')}${main}.`;
}

const optionalOrNone = <T>({ hint, parse, ...field }: Field<T>, none: string) =>
  optionalField<T | null>({
    ...{ ...field, hint: `${hint}; none ${none}` },
    parse: (text) => (text === 'none' ? accepted(null) : parse(text)),
  });

export const settingFlags = {
  deskTtl: optionalField(workspaceFields.desk_ttl),
  lfsUrl: optionalOrNone(workspaceFields.lfs_url, 'for the one of the remote'),
  lfs: optionalField(workspaceFields.lfs),
  lfsLimit: optional(
    'SIZE',
    'disk limit of its LFS objects: the least recently used are removed, but none that a synced branch needs',
    parseByteLimit,
  ),
  lockDelay: optionalOrNone(workspaceFields.lock_delay, 'for that of the service'),
  latest: optionalField(workspaceFields.latest),
  latestBranches: optionalField(workspaceFields.latest_branches),
  pushLocks: optionalField(workspaceFields.push_locks),
};

/** Only the settings that were given. */
export function settingsOf({
  deskTtl,
  latestBranches,
  lockDelay,
  ...flags
}: FlagValues<typeof settingFlags>): Partial<WorkspaceSettings> {
  const settings = {
    desk_ttl: deskTtl && formatDuration(deskTtl),
    lfs_url: flags.lfsUrl,
    lfs_mode: flags.lfs,
    lfs_limit: flags.lfsLimit,
    lock_delay_ms: lockDelay && milliseconds(lockDelay),
    latest: flags.latest,
    latest_branches: latestBranches && JSON.stringify(latestBranches),
    push_locks: flags.pushLocks,
  };
  // TypeScript does not follow the keys through the entries.
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined),
  ) as Partial<WorkspaceSettings>;
}

const asItIs = 'as it is';

/** Without its flag, a setting keeps its value. */
const unchanged = <F extends Flags>(flags: F): F =>
  // TypeScript does not follow the keys through the entries.
  Object.fromEntries(Object.entries(flags).map(([key, flag]) => [key, { ...flag, otherwise: asItIs }])) as F;

export const workspaceUpdate = defineStorageCommand({
  name: 'workspace update',
  summary: 'change the remote of a workspace, its settings for Git LFS, or those for outdated files',
  details: [
    'Branches synced from the previous remote stay until a sync updates them.',
    'Set a URL with a password in WORKSPACE_SERVICE_REMOTE: other users can read the arguments of a process.',
  ],
  arguments: { workspace: workspaceArgument },
  flags: {
    remote: optionalField({ ...workspaceFields.remote, otherwise: asItIs }, { secret: true }),
    ...remoteFlags,
    ...unchanged(settingFlags),
  },
  example: 'game --desk-ttl 14d',
  check: (flags) =>
    flags.remote === undefined && Object.keys(settingsOf(flags)).length === 0
      ? [
          'There is nothing to change. Set --remote, a flag for Git LFS, --lock-delay, --latest, --latest-branches or --push-locks.',
        ]
      : connectionProblem(flags),
  async run({ flags, arguments: { workspace: id }, environment }, storage) {
    const remoteBranches = await contactRemote(flags, environment, 'changed');
    const remote = flags.remote && { remote: flags.remote.text };
    await storage.commit({ workspace: id }, (db) =>
      updateWorkspaceAudited(db, storage.now, operatorActor(), { id, ...remote, ...settingsOf(flags) }),
    );
    const workspace = await findWorkspace(storage.read, id);
    // It existed a moment ago.
    if (workspace === undefined) throw new CommandError(`The workspace "${id}" was removed meanwhile.`);
    const settings = currentSettings(workspace);
    const mirrored = remote ? ` It mirrors ${flags.remote?.remote.address}. ${remoteSummary(remoteBranches)}` : '';
    return {
      document: { workspace: id, ...settings },
      lines: [`Changed the workspace "${id}".${mirrored}`, ...settingsTable(settings)],
    };
  },
});

const currentSettings = (workspace: FoundWorkspace) => ({
  desk_ttl: formatDuration(lfsLockTtl(workspace)),
  lfs_url: lfsEndpoint(workspace) ?? null,
  lfs: lfsMode(workspace),
  lfs_limit: workspace.lfs_limit,
  lock_delay: workspace.lock_delay_ms === null ? null : formatDuration({ seconds: workspace.lock_delay_ms / 1_000 }),
  latest: latestMode(workspace),
  latest_branches: patternsOf(workspace),
  push_locks: pushLockMode(workspace),
});

const settingsTable = (settings: ReturnType<typeof currentSettings>): readonly OutputBlock[] =>
  textTable(
    Object.entries(settings),
    {
      SETTING: ([name]) => name.replaceAll('_', ' '),
      VALUE: ([, value]) => (typeof value === 'number' ? byteSize(value) : value?.toString()),
    },
    '',
  );
