import { accepted, type Parsed } from '../../../interface/parsed.ts';
import { createGit, type Git } from '../../git/git.ts';
import { GitError } from '../../git/git-error.ts';
import { parseRemote, type Remote } from '../../git/remote.ts';
import type { RemoteBranches } from '../../git/remote-branches.ts';
import { addWorkspaceBy } from '../../workspaces/audited.ts';
import { parseWorkspaceId } from '../../workspaces/workspace-id.ts';
import { findWorkspace, listWorkspaces } from '../../workspaces/workspaces.ts';
import { defineCommand } from '../command.ts';
import { Failure } from '../failure.ts';
import { required, toggle } from '../flags.ts';
import { withStorage } from '../open-storage.ts';
import { operatorActor } from '../operator.ts';
import { printJson, printLines } from '../output/print.ts';
import { commonFlags } from './common-flags.ts';

const patience = { timeoutMs: 10_000 };

interface GivenRemote {
  /** With its credentials. */
  readonly text: string;
  readonly remote: Remote;
}

/** Whether files are allowed is another flag's matter, and looked at when both are known. */
function parseAnyRemote(text: string): Parsed<GivenRemote> {
  const remote = parseRemote(text, { allowFile: true });
  return remote.ok ? accepted({ text, remote: remote.value }) : remote;
}

const flags = {
  remote: required(
    {
      placeholder: 'URL',
      what: 'the git repository it mirrors: https://host/path, ssh://user@host/path or user@host:path',
      secret: true,
    },
    parseAnyRemote,
  ),
  'no-check': toggle('do not ask the remote for its branches first'),
  'allow-file-remotes': toggle('let the remote be a repository on this machine'),
  ...commonFlags,
} as const;

async function askRemote(git: Git, remote: Remote): Promise<RemoteBranches> {
  try {
    return await git.branches(remote, patience);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    // git's own last words may end without a full stop.
    const sentence = error.message.replace(/[^.!?]$/, '$&.');
    throw new Failure(`${sentence} Nothing was added. With --no-check the remote is not asked.`);
  }
}

function whatItHas(asked: RemoteBranches | null): string {
  if (asked === null) return 'The remote was not asked.';
  const { branches, defaultBranch } = asked;
  if (branches.size === 0) return 'The remote answers; it has no branches yet.';
  const main = defaultBranch === undefined ? '' : `, ${defaultBranch} by default`;
  return `The remote answers; it has ${branches.size === 1 ? 'one branch' : `${branches.size} branches`}${main}.`;
}

export const workspaceAdd = defineCommand({
  name: 'workspace add',
  summary: 'add a workspace that mirrors a git repository',
  details: [
    'Give an address that holds a password as WORKSPACE_SERVICE_REMOTE: other users can read the arguments of a process.',
  ],
  arguments: { id: { placeholder: 'ID', what: 'how addresses and commands name it', parse: parseWorkspaceId } },
  flags,
  example: 'game --remote https://git.example.com/studio/game.git',
  check: ({ remote: { remote }, 'allow-file-remotes': allowFile }) =>
    remote.kind === 'file' && !allowFile
      ? ['--remote is a repository on this machine. Allow it with --allow-file-remotes, here and for the service.']
      : [],
  async run({ flags, arguments: { id }, environment, io }) {
    const { text, remote } = flags.remote;
    const git = createGit({ dataFolder: flags.data, allowFile: flags['allow-file-remotes'], environment });
    const taken = new Failure(`There is a workspace "${id}" already. Remove it first, or choose another id.`);

    const added = await withStorage({ ...flags, environment }, 'there or new', async (storage) => {
      if ((await findWorkspace(storage.read, id)) !== undefined) throw taken;
      const asked = flags['no-check'] ? null : await askRemote(git, remote);
      const fresh = await storage.commit({ workspace: id }, (db) =>
        addWorkspaceBy(db, storage.now, operatorActor(), { id, remote: text }),
      );
      if (!fresh) throw taken;
      return { asked, workspace: (await listWorkspaces(storage.read)).find((workspace) => workspace.id === id) };
    });
    const { asked, workspace } = added;
    if (flags.json) {
      printJson(io.stdout, { workspace, branches: asked === null ? null : [...asked.branches.keys()] });
      return;
    }
    printLines(io.stdout, [`Added the workspace "${id}", a mirror of ${remote.address}. ${whatItHas(asked)}`]);
  },
});
