import { CommandError } from '../../command/command.ts';
import { deliberateToggle, type Flags, type FlagValues, toggle } from '../../command/flags.ts';
import { type OutputBlock, textTable } from '../../command/print.ts';
import { formatDuration, milliseconds } from '../../interface/duration.ts';
import { pluralize, timeCell } from '../../interface/format.ts';
import { byteSize } from '../../interface/transfer.ts';
import { createGit } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import type { Remote } from '../git/remote.ts';
import type { RemoteBranches } from '../git/remote-branches.ts';
import { removeWorkspaceFiles } from '../startup-cleanup.ts';
import { removeWorkspaceInBatches } from '../workspaces/remove-workspace.ts';
import { latestMode, lfsEndpoint, lfsLockTtl, lfsMode, patternsOf, pushLockMode } from '../workspaces/settings.ts';
import {
  addWorkspaceAudited,
  type FoundWorkspace,
  findWorkspace,
  listWorkspaces,
  updateWorkspaceAudited,
  type WorkspaceSettings,
} from '../workspaces/workspaces.ts';
import { defineStorageCommand, operatorActor } from './storage-command.ts';
import { workspaceArgument } from './values.ts';
import { idArgument, optionalRemoteFlag, remoteFlag, settingFlags } from './workspace-flags.ts';

const noCheck = toggle('store the remote without contacting it');

const workspaceAdd = defineStorageCommand({
  name: 'workspace add',
  summary: 'add a workspace that mirrors a git repository',
  details: ['Set a URL with a password in WORKSPACE_SERVICE_REMOTE: other users can read the arguments of a process.'],
  arguments: { id: idArgument },
  flags: {
    remote: remoteFlag,
    noCheck,
    ...settingFlags,
  },
  example: 'game --remote https://git.example.com/studio/game.git',
  mayBeNew: 'with-folder',
  async run({ flags, arguments: { id }, environment }, storage) {
    const { text, remote } = flags.remote;
    const exists = new CommandError(`The workspace "${id}" already exists. Remove it first, or choose another id.`);
    if ((await findWorkspace(storage.read, id)) !== undefined) throw exists;
    const remoteBranches = await contactRemote(flags, environment, 'added');
    const fresh = await storage.commit({ workspace: id }, (db) =>
      addWorkspaceAudited(db, storage.now, operatorActor(), { id, remote: text, ...settingsOf(flags) }),
    );
    if (!fresh) throw exists;
    const workspace = (await listWorkspaces(storage.read)).find((each) => each.id === id);
    return {
      document: { workspace, branches: remoteBranches === null ? null : [...remoteBranches.branches.keys()] },
      lines: [`Added the workspace "${id}", a mirror of ${remote.address}. ${remoteSummary(remoteBranches)}`],
    };
  },
});

const asItIs = 'as it is';

/** Without its flag, a setting keeps its value. */
const unchanged = <F extends Flags>(flags: F): F =>
  // TypeScript does not follow the keys through the entries.
  Object.fromEntries(Object.entries(flags).map(([key, flag]) => [key, { ...flag, otherwise: asItIs }])) as F;

const workspaceUpdate = defineStorageCommand({
  name: 'workspace update',
  summary: 'change the remote of a workspace, or its settings',
  details: [
    'Branches synced from the previous remote stay until a sync updates them.',
    'Set a URL with a password in WORKSPACE_SERVICE_REMOTE: other users can read the arguments of a process.',
  ],
  arguments: { workspace: workspaceArgument },
  flags: {
    ...unchanged({ remote: optionalRemoteFlag }),
    noCheck,
    ...unchanged(settingFlags),
  },
  example: 'game --desk-ttl 14d',
  check: (flags) =>
    flags.remote === undefined && Object.keys(settingsOf(flags)).length === 0
      ? [
          'There is nothing to change. Set --remote, a flag for Git LFS, --lock-delay, --latest, --latest-branches or --push-locks.',
        ]
      : [],
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

const workspaceList = defineStorageCommand({
  name: 'workspace list',
  summary: 'list all workspaces and their remotes',
  example: '--json',
  async run(_context, { read }) {
    const workspaces = await listWorkspaces(read);
    return {
      document: { workspaces },
      lines: textTable(
        workspaces,
        { ID: ({ id }) => id, REMOTE: ({ remote }) => remote, ADDED: ({ created_at }) => timeCell(created_at) },
        'There are no workspaces yet. Add one with: workspace-service workspace add ID --remote URL',
      ),
    };
  },
});

const workspaceRemove = defineStorageCommand({
  name: 'workspace remove',
  summary: 'remove a workspace with its mirror, syncs and webhooks',
  details: [
    'Without --force, a workspace with active locks is not removed. If a lock is taken during the removal, the workspace',
    'stays, without the part of its history that was already removed.',
  ],
  arguments: { workspace: workspaceArgument },
  flags: { force: deliberateToggle('release all locks of the workspace first, regardless of their owner') },
  example: 'game',
  async run({ flags, arguments: { workspace: id }, environment }, storage) {
    const removal = await removeWorkspaceInBatches(storage, operatorActor(), id, { force: flags.force });
    if (removal.kind === 'locked') {
      throw new CommandError(
        `The workspace "${id}" was not removed: it has ${pluralize(removal.locks, 'active lock')}. Wait until they expire, release them with "workspace-service lock release", or end them with --force.`,
      );
    }
    if (removal.kind === 'unknown') throw new CommandError(`The workspace "${id}" was removed meanwhile.`);
    const git = createGit({ dataFolder: flags.data, allowFile: false, environment });
    await removeWorkspaceFiles(git, flags.data, id).catch(() => undefined);
    const ended = removal.ended === 0 ? '' : ` Ended ${pluralize(removal.ended, 'lock')}.`;
    return {
      document: { removed: id, ended_locks: removal.ended },
      lines: [`Removed the workspace "${id}".${ended}`],
    };
  },
});

export const workspaceCommands = [workspaceAdd, workspaceUpdate, workspaceList, workspaceRemove];

interface RemoteFlagValues {
  readonly data: string;
  readonly noCheck: boolean;
  readonly remote: { readonly remote: Remote } | undefined;
}

const queueTimeout = { timeoutMs: 10_000 };

/** Null if the remote is not contacted: with --no-check or without a remote. */
async function contactRemote(
  { data, remote, noCheck }: RemoteFlagValues,
  environment: NodeJS.ProcessEnv,
  done: 'added' | 'changed',
): Promise<RemoteBranches | null> {
  if (noCheck || remote === undefined) return null;
  const git = createGit({ dataFolder: data, allowFile: true, environment });
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

function remoteSummary(remote: RemoteBranches | null): string {
  if (remote === null) return 'The remote was not contacted.';
  const { branches, defaultBranch } = remote;
  if (branches.size === 0) return 'The remote responds; it has no branches yet.';
  const main = defaultBranch === undefined ? '' : `, ${defaultBranch} by default`;
  return `The remote responds; it has ${pluralize(branches.size, 'branch', 'branches')}${main}.`;
}

/** Only the settings that were given. */
function settingsOf({
  deskTtl,
  latestBranches,
  lockDelay,
  ...flags
}: FlagValues<typeof settingFlags>): Partial<WorkspaceSettings> {
  const settings = {
    desk_ttl: deskTtl && formatDuration(deskTtl),
    lfs_url: flags.lfsUrl,
    lfs_mode: flags.lfs,
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

const currentSettings = (workspace: FoundWorkspace) => ({
  desk_ttl: formatDuration(lfsLockTtl(workspace)),
  lfs_url: lfsEndpoint(workspace) ?? null,
  lfs: lfsMode(workspace),
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
