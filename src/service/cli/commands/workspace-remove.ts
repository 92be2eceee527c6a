import type { Lock } from '../../../interface/resources.ts';
import { createGit } from '../../git/git.ts';
import { listLocks } from '../../locks/list.ts';
import { removeWorkspaceBy } from '../../workspaces/audited.ts';
import { defineCommand } from '../command.ts';
import { Failure } from '../failure.ts';
import { withStorage } from '../open-storage.ts';
import { operatorActor } from '../operator.ts';
import { printJson, printLines } from '../output/print.ts';
import { commonFlags } from './common-flags.ts';
import { existingWorkspace, workspaceArgument } from './workspace-argument.ts';

const namedLocks = 10;

function stillLocked(id: string, locks: readonly Lock[], count: number): Failure {
  const named = locks.map(({ path, owner }) => `${path} (held by ${owner})`).join(', ');
  const more = count > locks.length ? ` and ${count - locks.length} more` : '';
  return new Failure(
    `The workspace "${id}" stays: it has locks on ${named}${more}. Wait for their end, or release them with "workspace-service lock release".`,
  );
}

export const workspaceRemove = defineCommand({
  name: 'workspace remove',
  summary: 'remove a workspace with its mirror, its syncs and its hooks',
  details: ['A workspace in which somebody holds a lock is not removed.'],
  arguments: { workspace: workspaceArgument },
  flags: commonFlags,
  example: 'game',
  async run({ flags, arguments: { workspace: id }, environment, io }) {
    await withStorage({ ...flags, environment }, 'there', async (storage) => {
      await existingWorkspace(storage, id);
      const removal = await storage.commit({ workspace: id }, (db) =>
        removeWorkspaceBy(db, storage.now, operatorActor(), id),
      );
      if (removal.kind !== 'locked') return;
      const { locks } = await listLocks(storage, { workspace: id, limit: namedLocks });
      throw stillLocked(id, locks, removal.locks);
    });
    const git = createGit({ dataFolder: flags.data, allowFile: false, environment });
    // A mirror that stays behind, as where it belongs to another user, is removed at the next start of the service.
    await git.forget(id).catch(() => undefined);
    if (flags.json) printJson(io.stdout, { removed: id });
    else printLines(io.stdout, [`Removed the workspace "${id}".`]);
  },
});
