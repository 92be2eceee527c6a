import { listTokens } from '../../tokens/tokens.ts';
import { defineCommand } from '../command.ts';
import { withStorage } from '../open-storage.ts';
import { printJson, printLines } from '../output/print.ts';
import { table } from '../output/table.ts';
import { shownTime } from '../output/times.ts';
import { commonFlags } from './common-flags.ts';

export const tokenList = defineCommand({
  name: 'token list',
  summary: 'list all API tokens, without their secrets',
  details: ['A use is written down some seconds after it; a service that is killed forgets the last ones.'],
  arguments: {},
  flags: commonFlags,
  example: '--json',
  async run({ flags, environment, io }) {
    const tokens = await withStorage({ ...flags, environment }, 'there', listTokens);
    if (flags.json) {
      printJson(io.stdout, { tokens });
      return;
    }
    if (tokens.length === 0) {
      printLines(io.stdout, [
        'There are no tokens yet. Make one with: workspace-service token create --name NAME --scopes LIST',
      ]);
      return;
    }
    const rows = tokens.map(({ id, name, state, scopes, workspaces, created_at, expires_at, last_used_at }) => [
      id,
      name,
      state,
      scopes.join(','),
      workspaces?.join(',') ?? 'all',
      shownTime(created_at),
      expires_at === null ? 'never' : shownTime(expires_at),
      last_used_at === null ? '' : shownTime(last_used_at),
    ]);
    printLines(
      io.stdout,
      table(['ID', 'NAME', 'STATE', 'SCOPES', 'WORKSPACES', 'CREATED', 'EXPIRES', 'LAST USED'], rows),
    );
  },
});
