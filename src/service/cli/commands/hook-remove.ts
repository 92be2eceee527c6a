import { removeHook } from '../../webhooks/hooks.ts';
import { defineCommand } from '../command.ts';
import { Failure } from '../failure.ts';
import { withStorage } from '../open-storage.ts';
import { operatorActor } from '../operator.ts';
import { printJson, printLines } from '../output/print.ts';
import { idOf } from '../values.ts';
import { commonFlags } from './common-flags.ts';
import { existingWorkspace, workspaceArgument } from './workspace-argument.ts';

export const hookRemove = defineCommand({
  name: 'hook remove',
  summary: 'remove a build webhook and what waits to be delivered to it',
  details: [],
  arguments: {
    workspace: workspaceArgument,
    id: { placeholder: 'ID', what: 'the id of the hook', parse: idOf('hook', 'workspace-service hook list') },
  },
  flags: commonFlags,
  example: 'game hook_5d3ad6a0-4b1c-4d53-8d2c-6b0f4a2f9c3e',
  async run({ flags, arguments: { workspace, id }, environment, io }) {
    const removed = await withStorage({ ...flags, environment }, 'there', async (storage) => {
      await existingWorkspace(storage, workspace);
      return storage.commit({ workspace }, (db) =>
        removeHook(db, storage.now, { workspace, id, actor: operatorActor() }),
      );
    });
    if (!removed) {
      throw new Failure(
        `The workspace "${workspace}" has no hook ${id}. The command "workspace-service hook list ${workspace}" shows those that it has.`,
      );
    }
    if (flags.json) printJson(io.stdout, { removed: id });
    else printLines(io.stdout, [`Removed the hook ${id} of the workspace "${workspace}".`]);
  },
});
