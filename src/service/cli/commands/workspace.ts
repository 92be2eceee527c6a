import { accepted, type Parsed } from '../../../interface/parsed.ts';
import type { Lock } from '../../../interface/resources.ts';
import { createGit, type Git } from '../../git/git.ts';
import { GitError } from '../../git/git-error.ts';
import { parseRemote, type Remote } from '../../git/remote.ts';
import type { RemoteBranches } from '../../git/remote-branches.ts';
import { forgetObjects } from '../../lfs/object-store.ts';
import { listLocks } from '../../locks/list.ts';
import { parseWorkspaceId } from '../../workspaces/workspace-id.ts';
import {
  addWorkspaceAudited,
  findWorkspace,
  listWorkspaces,
  removeWorkspaceAudited,
} from '../../workspaces/workspaces.ts';
import { Failure } from '../command.ts';
import { required, toggle } from '../flags.ts';
import { shownTime } from '../output/print.ts';
import { table } from '../output/table.ts';
import { defineStorageCommand, operatorActor, requireWorkspace, workspaceArgument } from '../storage-command.ts';
import { deskFlags, deskSettings } from './workspace-desk.ts';

const patience = { timeoutMs: 10_000 };

interface TypedRemote {
  /** With its credentials. */
  readonly text: string;
  readonly remote: Remote;
}

/** Whether files are allowed is another flag's matter, and looked at when both are known. */
function parseAnyRemote(text: string): Parsed<TypedRemote> {
  const remote = parseRemote(text, { allowFile: true });
  return remote.ok ? accepted({ text, remote: remote.value }) : remote;
}

async function askRemote(git: Git, remote: Remote): Promise<RemoteBranches> {
  try {
    return await git.branches(remote, patience);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    // git's own last words may end without a full stop.
    const sentence = error.message.replace(/[^.!?]$/, '$&.');
    throw new Failure(`${sentence} Nothing was added. Use --no-check to add it without contacting the remote.`);
  }
}

function whatItHas(asked: RemoteBranches | null): string {
  if (asked === null) return 'The remote was not contacted.';
  const { branches, defaultBranch } = asked;
  if (branches.size === 0) return 'The remote answers; it has no branches yet.';
  const main = defaultBranch === undefined ? '' : `, ${defaultBranch} by default`;
  return `The remote answers; it has ${branches.size === 1 ? 'one branch' : `${branches.size} branches`}${main}.`;
}

export const workspaceAdd = defineStorageCommand({
  name: 'workspace add',
  summary: 'add a workspace that mirrors a git repository',
  details: [
    'Pass an address with a password in WORKSPACE_SERVICE_REMOTE: other users can read the arguments of a process.',
  ],
  arguments: { id: required('ID', 'the name of the workspace in URLs and commands', parseWorkspaceId) },
  flags: {
    remote: required(
      'URL',
      'the git repository to mirror: https://host/path, ssh://user@host/path or user@host:path',
      parseAnyRemote,
      { secret: true },
    ),
    noCheck: toggle('add the workspace without contacting the remote'),
    allowFileRemotes: toggle('let the remote be a repository on this machine'),
    ...deskFlags,
  },
  example: 'game --remote https://git.example.com/studio/game.git',
  mayBeNew: true,
  check: ({ remote: { remote }, allowFileRemotes }) =>
    remote.kind === 'file' && !allowFileRemotes
      ? ['--remote is a repository on this machine. Allow it with --allow-file-remotes, here and for the service.']
      : [],
  async run({ flags, arguments: { id }, environment }, storage) {
    const { text, remote } = flags.remote;
    const git = createGit({ dataFolder: flags.data, allowFile: flags.allowFileRemotes, environment });
    const taken = new Failure(`The workspace "${id}" already exists. Remove it first, or choose another id.`);
    if ((await findWorkspace(storage.read, id)) !== undefined) throw taken;
    const asked = flags.noCheck ? null : await askRemote(git, remote);
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
  details: ['A workspace with active locks is not removed.'],
  arguments: { workspace: workspaceArgument },
  example: 'game',
  async run({ flags, arguments: { workspace: id }, environment }, storage) {
    await requireWorkspace(storage, id);
    const removal = await storage.commit({ workspace: id }, (db) =>
      removeWorkspaceAudited(db, storage.now, operatorActor(), id),
    );
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
