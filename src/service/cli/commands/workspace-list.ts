import { listWorkspaces } from '../../workspaces/workspaces.ts';
import { defineCommand } from '../command.ts';
import { withStorage } from '../open-storage.ts';
import { printJson, printLines } from '../output/print.ts';
import { table } from '../output/table.ts';
import { shownTime } from '../output/times.ts';
import { commonFlags } from './common-flags.ts';

export const workspaceList = defineCommand({
  name: 'workspace list',
  summary: 'list all workspaces and what they mirror',
  details: [],
  arguments: {},
  flags: commonFlags,
  example: '--json',
  async run({ flags, environment, io }) {
    const workspaces = await withStorage({ ...flags, environment }, 'there', ({ read }) => listWorkspaces(read));
    if (flags.json) {
      printJson(io.stdout, { workspaces });
      return;
    }
    if (workspaces.length === 0) {
      printLines(io.stdout, [
        'There are no workspaces yet. Add one with: workspace-service workspace add ID --remote URL',
      ]);
      return;
    }
    const rows = workspaces.map(({ id, remote, created_at }) => [id, remote, shownTime(created_at)]);
    printLines(io.stdout, table(['ID', 'REMOTE', 'ADDED'], rows));
  },
});
