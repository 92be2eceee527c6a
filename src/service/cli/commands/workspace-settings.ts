import { formatDuration, milliseconds } from '../../../interface/duration.ts';
import { accepted } from '../../../interface/parsed.ts';
import { byteSize } from '../../../interface/transfer.ts';
import type { Field } from '../../contract/field.ts';
import { lfsClientSettings, lfsWays } from '../../lfs/client-settings.ts';
import { workspaceFields } from '../../workspaces/fields.ts';
import { latestMode, lfsEndpoint, lfsLockTtl, lfsMode, patternsOf, pushLockMode } from '../../workspaces/settings.ts';
import {
  type FoundWorkspace,
  findWorkspace,
  updateWorkspaceAudited,
  type WorkspaceSettings,
} from '../../workspaces/workspaces.ts';
import { CommandError } from '../definition/command.ts';
import { type Flags, type FlagValues, optional, optionalField } from '../definition/flags.ts';
import { parseByteLimit } from '../definition/values.ts';
import { publicUrl } from '../serve/settings.ts';
import { defineStorageCommand, operatorActor, workspaceArgument } from '../storage/storage-command.ts';
import { connectionProblem, contactRemote, remoteFlags, remoteSummary } from './workspace-remote.ts';

const optionalOrNone = <T>({ hint, parse, ...field }: Field<T>, none: string) =>
  optionalField<T | null>({
    ...{ ...field, hint: `${hint}; none ${none}` },
    parse: (text) => (text === 'none' ? accepted(null) : parse(text)),
  });

export const lfsFlags = {
  deskTtl: optionalField(workspaceFields.desk_ttl),
  lfsUrl: optionalOrNone(workspaceFields.lfs_url, 'for the one of the remote'),
  lfs: optionalField(workspaceFields.lfs),
  lfsLimit: optional(
    'SIZE',
    'disk limit of its LFS objects: the least recently used are removed, but none that a synced branch needs',
    parseByteLimit,
  ),
};

export const lockFlags = { lockDelay: optionalOrNone(workspaceFields.lock_delay, 'for that of the service') };

export const latestFlags = {
  latest: optionalField(workspaceFields.latest),
  latestBranches: optionalField(workspaceFields.latest_branches),
  releaseOn: optionalOrNone(workspaceFields.release_on, 'for never'),
  pushLocks: optionalField(workspaceFields.push_locks),
};

/** Only the settings that were given. */
export function settingsOf({
  deskTtl,
  latestBranches,
  lockDelay,
  ...flags
}: FlagValues<typeof lfsFlags & typeof lockFlags & typeof latestFlags>): Partial<WorkspaceSettings> {
  const settings = {
    desk_ttl: deskTtl && formatDuration(deskTtl),
    lfs_url: flags.lfsUrl,
    lfs_mode: flags.lfs,
    lfs_limit: flags.lfsLimit,
    lock_delay_ms: lockDelay && milliseconds(lockDelay),
    latest: flags.latest,
    latest_branches: latestBranches && JSON.stringify(latestBranches),
    release_on: flags.releaseOn,
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
    ...unchanged(lfsFlags),
    ...unchanged(lockFlags),
    ...unchanged(latestFlags),
  },
  example: 'game --desk-ttl 14d',
  check: (flags) =>
    flags.remote === undefined && Object.keys(settingsOf(flags)).length === 0
      ? [
          'There is nothing to change. Set --remote, a flag for Git LFS, --lock-delay, --latest, --latest-branches, --release-on or --push-locks.',
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
      lines: [`Changed the workspace "${id}".${mirrored} ${settingsText(settings)}`],
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
  release_on: workspace.release_on,
  push_locks: pushLockMode(workspace),
});

function settingsText({ latest, latest_branches, ...settings }: ReturnType<typeof currentSettings>): string {
  const { desk_ttl, lfs_url, lfs, lfs_limit, lock_delay, release_on, push_locks } = settings;
  const isCompared = latest !== 'off' || latest_branches !== null;
  return [
    `A lock taken with Git LFS lasts ${desk_ttl}.`,
    lfs_url === null ? 'The URL of its LFS objects is unknown.' : `Its LFS objects are at ${lfs_url}.`,
    workspaceFields.lfs.meanings[lfs],
    ...(lfs_limit === null ? [] : [`The mirror stores at most ${byteSize(lfs_limit)} of objects.`]),
    ...(lock_delay === null ? [] : [`A path stays closed for ${lock_delay} after its lock has expired.`]),
    workspaceFields.latest.meanings[latest],
    ...(isCompared ? [`Branches to compare with: ${latest_branches?.join(', ') ?? 'the default branch'}.`] : []),
    release_on === null
      ? 'Merges release no locks.'
      : `A lock of a person is released when its file has changed on ${release_on}.`,
    workspaceFields.push_locks.meanings[push_locks],
  ].join(' ');
}

/** For commands that print URLs of the service. */
export const missingUrlProblem = ({ publicUrl: url }: { readonly publicUrl: string | undefined }): readonly string[] =>
  url === undefined
    ? [
        'The URL of the service is unknown. Pass it as --public-url, or set WORKSPACE_SERVICE_PUBLIC_URL as for the service.',
      ]
    : [];

export const workspaceLfs = defineStorageCommand({
  name: 'workspace lfs',
  summary: 'print the settings for Git LFS: a .lfsconfig to commit, or commands for one clone',
  details: ['They contain no secret: people sign in with their own token as the password.'],
  arguments: { workspace: workspaceArgument },
  flags: { publicUrl },
  example: 'game --public-url https://assets.example.com',
  check: missingUrlProblem,
  async run({ flags, arguments: { workspace: id } }) {
    const settings = lfsClientSettings(`${flags.publicUrl}`, id);
    const { url, committed, perClone, forRemote } = settings;
    const linesOf = (text: string) => text.trimEnd().split('\n');
    return {
      document: { url, lfsconfig: committed, per_clone: perClone, lfsconfig_for_remote: forRemote },
      lines: [
        `# Commit this as .lfsconfig. ${lfsWays.committed}`,
        ...linesOf(committed),
        '',
        `# Or run this in a clone. ${lfsWays.perClone}`,
        ...perClone,
        '',
        `# Or commit this as .lfsconfig. ${lfsWays.forRemote}`,
        ...linesOf(forRemote),
      ],
    };
  },
});
