import { CommandError } from '../../command/command.ts';
import { deliberateToggle } from '../../command/flags.ts';
import { textTable } from '../../command/print.ts';
import { pluralize, timeCell } from '../../interface/format.ts';
import type { Lock } from '../../interface/resources.ts';
import { createGit } from '../git/git.ts';
import { listLocks } from '../locks/list.ts';
import { commitReleasesOf } from '../locks/release.ts';
import { removeWorkspaceFiles } from '../startup-cleanup.ts';
import { workspaceFields } from '../workspaces/fields.ts';
import { maxNamedLocks, removeWorkspaceInBatches } from '../workspaces/remove-workspace.ts';
import { addWorkspaceAudited, findWorkspace, listWorkspaces } from '../workspaces/workspaces.ts';
import { defineStorageCommand, operatorActor } from './storage-command.ts';
import { requiredField, workspaceArgument } from './values.ts';
import { contactRemote, noCheck, remoteSummary, settingFlags, settingsOf } from './workspace-settings.ts';

const workspaceAdd = defineStorageCommand({
  name: 'workspace add',
  summary: 'add a workspace that mirrors a git repository',
  details: ['Set a URL with a password in WORKSPACE_SERVICE_REMOTE: other users can read the arguments of a process.'],
  arguments: { id: requiredField(workspaceFields.id) },
  flags: {
    remote: requiredField(workspaceFields.remote, { secret: true }),
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
    const releasing = { storage, commitReleases: commitReleasesOf(storage) };
    const removal = await removeWorkspaceInBatches(releasing, operatorActor(), id, { force: flags.force });
    if (removal.kind === 'locked') {
      const { locks } = await listLocks(storage, { workspace: id, limit: maxNamedLocks });
      throw new CommandError(
        `The workspace "${id}" was not removed: it has ${countAndName(locks, removal.locks)}. Wait until they expire, release them with "workspace-service lock release", or end them with --force.`,
      );
    }
    if (removal.kind === 'unknown') throw new CommandError(`The workspace "${id}" was removed meanwhile.`);
    const git = createGit({ dataFolder: flags.data, allowFile: false, environment });
    await removeWorkspaceFiles(git, flags.data, id).catch(() => undefined);
    const { count, named } = removal.ended;
    const ended = count === 0 ? '' : ` Ended ${countAndName(named, count)}.`;
    return {
      document: { removed: id, ended_locks: count, ...(count > 0 && { first_ended: named }) },
      lines: [`Removed the workspace "${id}".${ended}`],
    };
  },
});

/** `3 locks: a (held by ci), b (held by ada) and 1 more` */
function countAndName(locks: readonly Lock[], count: number): string {
  const named = locks.map(({ path, owner }) => `${path} (held by ${owner})`).join(', ');
  const more = count > locks.length ? ` and ${count - locks.length} more` : '';
  return `${pluralize(count, 'lock')}: ${named}${more}`;
}

export const workspaceCommands = [workspaceAdd, workspaceList, workspaceRemove];
