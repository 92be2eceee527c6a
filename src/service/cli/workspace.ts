import { CommandError } from '../../command/command.ts';
import { type FlagValues, optional, required, toggle } from '../../command/flags.ts';
import { textTable } from '../../command/print.ts';
import { formatDuration, parseTtl } from '../../interface/duration.ts';
import { pluralize } from '../../interface/format.ts';
import { accepted, type Parsed } from '../../interface/parsed.ts';
import { createGit } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { parseRemote, type Remote } from '../git/remote.ts';
import { removeWorkspaceInBatches } from '../workspaces/remove-workspace.ts';
import { defaultLfsLockTtl, latestMode, lfsMode, parseBranchPatterns, parseLfsUrl } from '../workspaces/settings.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';
import {
  addWorkspace,
  allWorkspaces,
  listWorkspaces,
  updateWorkspace,
  type WorkspaceSettings,
} from '../workspaces/workspaces.ts';
import {
  type commonFlags,
  defineCreatingCommand,
  defineStorageCommand,
  operatorActor,
  workspaceArgument,
} from './storage-command.ts';

const remoteHint = 'the git repository to mirror: https://host/path, ssh://user@host/path or user@host:path';

/** Accepts repositories on this disk, which a separate setting allows. `text` includes the credentials. */
function parseAnyRemote(text: string): Parsed<{ readonly text: string; readonly remote: Remote }> {
  const remote = parseRemote(text, { allowFile: true });
  return remote.ok ? accepted({ text, remote: remote.value }) : remote;
}

const orNone =
  <T>(parse: (text: string) => Parsed<T>) =>
  (text: string): Parsed<T | null> =>
    text === 'none' ? accepted(null) : parse(text);

const settingFlags = {
  deskTtl: optional(
    'DURATION',
    'how long locks from the dashboard or Git LFS last; at most 30d',
    parseTtl,
    `default ${defaultLfsLockTtl}`,
  ),
  lfsUrl: optional(
    'URL',
    'the LFS endpoint with the objects of the workspace, without user name and password; none for the endpoint of the remote',
    orNone(parseLfsUrl),
    'default the endpoint of the remote',
  ),
  lfs: optional(
    'WHICH',
    "which LFS objects a sync fetches: those of the branch's head, or none",
    lfsMode.parse,
    `default ${lfsMode.default}`,
  ),
  latest: optional(
    'WHAT',
    'if another branch has a newer version of the file: refuse the lock, warn, or off',
    latestMode.parse,
    `default ${latestMode.default}`,
  ),
  latestBranches: optional(
    'NAMES',
    'the branches that locks are compared with, separated by commas; * stands for any characters except /',
    parseBranchPatterns,
    "default the remote's default branch",
  ),
};

const remoteFlags = {
  remote: optional('URL', remoteHint, parseAnyRemote, undefined, { secret: true }),
  noCheck: toggle('store the remote without contacting it'),
};

const workspaceAdd = defineCreatingCommand({
  name: 'workspace add',
  summary: 'add a workspace that mirrors a git repository',
  details: ['Set a URL with a password in WORKSPACE_SERVICE_REMOTE: other users can read the arguments of a process.'],
  arguments: { id: required('ID', 'the name of the workspace in URLs and commands', parseWorkspaceId) },
  flags: {
    ...remoteFlags,
    remote: required('URL', remoteHint, parseAnyRemote, { secret: true }),
    ...settingFlags,
  },
  example: 'game --remote https://git.example.com/studio/game.git',
  async run({ flags, arguments: { id }, environment }, storage) {
    const checked = await checkRemote(flags, environment);
    const fresh = await storage.commit({ workspace: id }, (db) =>
      addWorkspace(db, operatorActor(), { id, remote: flags.remote.text, ...settingsOf(flags) }),
    );
    if (!fresh) throw new CommandError(`The workspace "${id}" already exists. Remove it first, or choose another id.`);
    const workspace = (await listWorkspaces(storage.read)).find((each) => each.id === id);
    return { document: { workspace }, lines: [`Added the workspace "${id}".${checked}`] };
  },
});

const workspaceUpdate = defineStorageCommand({
  name: 'workspace update',
  summary: 'change the remote of a workspace, or its settings',
  details: [
    'Settings without a flag are not changed. Branches synced from the previous remote stay until a sync updates them.',
    'Set a URL with a password in WORKSPACE_SERVICE_REMOTE: other users can read the arguments of a process.',
  ],
  arguments: { workspace: workspaceArgument },
  flags: { ...remoteFlags, ...settingFlags },
  example: 'game --desk-ttl 14d',
  check: (flags) =>
    flags.remote === undefined && Object.keys(settingsOf(flags)).length === 0
      ? ['There is nothing to change. Set --remote, a flag for Git LFS, --latest or --latest-branches.']
      : [],
  async run({ flags, arguments: { workspace: id }, environment }, storage) {
    const checked = await checkRemote(flags, environment);
    const settings = settingsOf(flags);
    const changed = { id, ...(flags.remote && { remote: flags.remote.text }), ...settings };
    const exists = await storage.change((...by) => updateWorkspace(...by, changed));
    if (!exists) throw new CommandError(`The workspace "${id}" was removed meanwhile.`);
    // The remote may contain credentials.
    return { document: { workspace: id, ...settings }, lines: [`Changed the workspace "${id}".${checked}`] };
  },
});

const workspaceList = defineStorageCommand({
  name: 'workspace list',
  summary: 'list all workspaces and their remotes; with --json, also their settings',
  example: '--json',
  async run(_context, { read }) {
    const workspaces = await allWorkspaces(read);
    return {
      document: {
        workspaces: workspaces.map(({ isClosed, ...workspace }) => ({
          ...workspace,
          ...(isClosed && { being_removed: true }),
        })),
      },
      lines: textTable(
        workspaces.map((each) => ({ ...each, remote: each.isClosed ? 'being removed' : each.remote })),
        ['id', 'remote', 'created_at'],
        'There are no workspaces yet. Add one with: workspace-service workspace add ID --remote URL',
      ),
    };
  },
});

const workspaceRemove = defineStorageCommand({
  name: 'workspace remove',
  summary: 'remove a workspace with its mirror, syncs and webhooks',
  details: [
    'A workspace with active locks is not removed. The service removes the mirror within ten minutes.',
    'If the command is interrupted, requests no longer find the workspace. Run it again to remove the rest.',
  ],
  arguments: { workspace: workspaceArgument },
  example: 'game',
  async run({ arguments: { workspace: id } }, storage) {
    const removal = await removeWorkspaceInBatches(storage, operatorActor(), id);
    if (removal.kind === 'locked') {
      throw new CommandError(
        `The workspace "${id}" was not removed: it has ${pluralize(removal.locks, 'active lock')}. Wait until they expire, or release them with "workspace-service lock release PATH --force --reason TEXT".`,
      );
    }
    if (removal.kind === 'unknown') throw new CommandError(`The workspace "${id}" was removed meanwhile.`);
    return { document: { removed: id }, lines: [`Removed the workspace "${id}".`] };
  },
});

export const workspaceCommands = [workspaceAdd, workspaceUpdate, workspaceList, workspaceRemove];

const queueTimeout = { timeoutMs: 10_000 };

/** Fails if the remote does not respond. Returns a sentence. */
async function checkRemote(
  { data, remote, noCheck }: FlagValues<typeof commonFlags & typeof remoteFlags>,
  environment: NodeJS.ProcessEnv,
): Promise<string> {
  if (remote === undefined) return '';
  const mirrored = `It mirrors ${remote.remote.address}.`;
  if (noCheck) return ` ${mirrored} The remote was not contacted.`;
  const git = createGit({ dataFolder: data, allowFile: true, environment });
  try {
    await git.branches(remote.remote, queueTimeout);
    return ` ${mirrored} The remote responds.`;
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    // The output of git may end without a period.
    const sentence = error.message.replace(/[^.!?]$/, '$&.');
    throw new CommandError(
      `${sentence} Nothing was changed. Use --no-check to store it without contacting the remote.`,
    );
  }
}

/** The settings that were given. */
const settingsOf = (flags: FlagValues<typeof settingFlags>): Partial<WorkspaceSettings> => ({
  ...(flags.deskTtl && { desk_ttl: formatDuration(flags.deskTtl) }),
  ...(flags.lfsUrl !== undefined && { lfs_url: flags.lfsUrl }),
  ...(flags.lfs && { lfs_mode: flags.lfs }),
  ...(flags.latest && { latest: flags.latest }),
  ...(flags.latestBranches && { latest_branches: flags.latestBranches.join(',') }),
});
