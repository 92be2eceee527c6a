import type { Lock } from '../../../interface/resources.ts';
import { createGit } from '../../git/git.ts';
import { forgetObjects } from '../../lfs/object-store.ts';
import { listLocks } from '../../locks/list.ts';
import { removeWorkspaceInPieces } from '../../workspaces/remove-workspace.ts';
import { parseWorkspaceId } from '../../workspaces/workspace-id.ts';
import { addWorkspaceAudited, findWorkspace, listWorkspaces } from '../../workspaces/workspaces.ts';
import { Failure } from '../command.ts';
import { required } from '../flags.ts';
import { shownTime } from '../output/print.ts';
import { table } from '../output/table.ts';
import { defineStorageCommand, operatorActor, requireWorkspace, workspaceArgument } from '../storage-command.ts';
import { deskFlags, deskSettings } from './workspace-desk.ts';
import { askRemote, parseAnyRemote, remoteFlags, remoteForms, whatItHas, whyNotAllowed } from './workspace-remote.ts';

export const workspaceAdd = defineStorageCommand({
  name: 'workspace add',
  summary: 'add a workspace that mirrors a git repository',
  details: [
    'Pass an address with a password in WORKSPACE_SERVICE_REMOTE: other users can read the arguments of a process.',
  ],
  arguments: { id: required('ID', 'the name of the workspace in URLs and commands', parseWorkspaceId) },
  flags: {
    remote: required('URL', remoteForms, parseAnyRemote, { secret: true }),
    ...remoteFlags,
    ...deskFlags,
  },
  example: 'game --remote https://git.example.com/studio/game.git',
  mayBeNew: true,
  check: whyNotAllowed,
  async run({ flags, arguments: { id }, environment }, storage) {
    const { text, remote } = flags.remote;
    const taken = new Failure(`The workspace "${id}" already exists. Remove it first, or choose another id.`);
    if ((await findWorkspace(storage.read, id)) !== undefined) throw taken;
    const asked = await askRemote(flags, { dataFolder: flags.data, environment, done: 'added' });
    const fresh = await storage.commit({ workspace: id }, (db) =>
      addWorkspaceAudited(db, storage.now, operatorActor(), { id, remote: text, ...deskSettings(flags) }),
    );
    if (!fresh) throw taken;
    const workspace = (await listWorkspaces(storage.read)).find((each) => each.id === id);
    return {
      document: { workspace, branches: asked === null ? null : [...asked.branches.keys()] },
      lines: [`Added the workspace "${id}", a mirror of ${remote.address}. ${whatItHas(asked)}`],
    };
  },
});

export const workspaceList = defineStorageCommand({
  name: 'workspace list',
  summary: 'list all workspaces and what they mirror',
  example: '--json',
  async run(_call, { read }) {
    const workspaces = await listWorkspaces(read);
    const rows = workspaces.map(({ id, remote, created_at }) => [id, remote, shownTime(created_at)]);
    return {
      document: { workspaces },
      lines: table(
        ['ID', 'REMOTE', 'ADDED'],
        rows,
        'There are no workspaces yet. Add one with: workspace-service workspace add ID --remote URL',
      ),
    };
  },
});

const maxNamedLocks = 10;

function stillLocked(id: string, locks: readonly Lock[], count: number): Failure {
  const named = locks.map(({ path, owner }) => `${path} (held by ${owner})`).join(', ');
  const more = count > locks.length ? ` and ${count - locks.length} more` : '';
  return new Failure(
    `The workspace "${id}" was not removed: it has locks on ${named}${more}. Wait until they expire, or release them with "workspace-service lock release".`,
  );
}

export const workspaceRemove = defineStorageCommand({
  name: 'workspace remove',
  summary: 'remove a workspace with its mirror, its syncs and its hooks',
  details: [
    'A workspace with active locks is not removed. If a lock is taken while the history is being removed, the workspace',
    'stays without the part of its history that is already gone.',
  ],
  arguments: { workspace: workspaceArgument },
  example: 'game',
  async run({ flags, arguments: { workspace: id }, environment }, storage) {
    await requireWorkspace(storage, id);
    const removal = await removeWorkspaceInPieces(storage, operatorActor(), id);
    if (removal.kind === 'locked') {
      const { locks } = await listLocks(storage, { workspace: id, limit: maxNamedLocks });
      throw stillLocked(id, locks, removal.locks);
    }
    const git = createGit({ dataFolder: flags.data, allowFile: false, environment });
    // A mirror that stays behind, as where it belongs to another user, is removed at the next start of the service.
    await Promise.allSettled([git.forget(id), forgetObjects(flags.data, id)]);
    return { document: { removed: id }, lines: [`Removed the workspace "${id}".`] };
  },
});
