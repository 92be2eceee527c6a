import { listHooks } from '../../webhooks/hook-overview.ts';
import { shownUrl } from '../../webhooks/shown-url.ts';
import { defineCommand } from '../command.ts';
import { withStorage } from '../open-storage.ts';
import { printJson, printLines } from '../output/print.ts';
import { table } from '../output/table.ts';
import { commonFlags } from './common-flags.ts';
import { existingWorkspace, workspaceArgument } from './workspace-argument.ts';

export const hookList = defineCommand({
  name: 'hook list',
  summary: 'list the build webhooks of a workspace and how their deliveries fare',
  details: ['Secrets, the values of headers and the queries of addresses are not shown.'],
  arguments: { workspace: workspaceArgument },
  flags: commonFlags,
  example: 'game',
  async run({ flags, arguments: { workspace: id }, environment, io }) {
    const hooks = await withStorage({ ...flags, environment }, 'there', async (storage) => {
      await existingWorkspace(storage, id);
      return (await listHooks(storage.read, id)).map((hook) => ({ ...hook, url: shownUrl(hook.url) }));
    });
    if (flags.json) {
      printJson(io.stdout, { hooks });
      return;
    }
    if (hooks.length === 0) {
      printLines(io.stdout, [
        `The workspace "${id}" has no hooks. Register one with POST /v1/workspaces/${id}/hooks, or from a workflow.`,
      ]);
      return;
    }
    const rows = hooks.map((hook) => [
      hook.id,
      hook.url,
      hook.events.join(','),
      hook.branches?.join(',') ?? 'all',
      hook.format,
      hook.active ? 'yes' : 'no',
      String(hook.pending_deliveries),
      hook.last_error ?? '',
    ]);
    const columns = ['ID', 'URL', 'EVENTS', 'BRANCHES', 'FORMAT', 'ACTIVE', 'PENDING', 'LAST ERROR'];
    printLines(io.stdout, table(columns, rows));
  },
});
