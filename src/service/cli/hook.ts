import { CommandError } from '../../command/command.ts';
import { required } from '../../command/flags.ts';
import { textTable } from '../../command/print.ts';
import { redactedUrl } from '../webhooks/formats.ts';
import { listHooks, removeHook } from '../webhooks/hooks.ts';
import { defineStorageCommand, workspaceArgument } from './storage-command.ts';
import { idOf } from './token.ts';

const hookList = defineStorageCommand({
  name: 'hook list',
  summary: 'list the build webhooks of a workspace and the state of their deliveries',
  details: ['Secrets, header values and URL queries are not shown.'],
  arguments: { workspace: workspaceArgument },
  example: 'game',
  async run({ arguments: { workspace: id } }, { read }) {
    const hooks = (await listHooks(read, id)).map((hook) => ({ ...hook, url: redactedUrl(hook) }));
    return {
      document: { hooks },
      lines: textTable(
        hooks.map((hook) => ({ ...hook, branches: hook.branches ?? 'all' })),
        ['id', 'url', 'events', 'branches', 'format', 'active', 'pending_deliveries', 'last_error'],
        `The workspace "${id}" has no hooks. Register one with POST /v1/workspaces/${id}/hooks, or from a workflow.`,
      ),
    };
  },
});

const hookRemove = defineStorageCommand({
  name: 'hook remove',
  summary: 'remove a build webhook and its pending deliveries',
  arguments: {
    workspace: workspaceArgument,
    id: required('ID', 'the id of the hook', idOf('hook', 'workspace-service hook list')),
  },
  example: 'game hook_5d3ad6a0-4b1c-4d53-8d2c-6b0f4a2f9c3e',
  async run({ arguments: { workspace, id } }, { change }) {
    const removed = await change((db, actor) => removeHook(db, { workspace, id, actor }));
    if (!removed)
      throw new CommandError(
        `The workspace "${workspace}" has no hook ${id}. Run "workspace-service hook list ${workspace}" to list its hooks.`,
      );
    return { document: { removed: id }, lines: [`Removed the hook ${id} of the workspace "${workspace}".`] };
  },
});

export const hookCommands = [hookList, hookRemove];
