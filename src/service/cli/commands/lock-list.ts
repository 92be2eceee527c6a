import { parseTokenOwner } from '../../tokens/new-token.ts';
import { optional, toggle } from '../definition/flags.ts';
import { parsePrefix } from '../definition/values.ts';
import { lockTableText, waitingTableText } from '../output/locks.ts';
import { defineRemoteCommand } from '../remote/remote-command.ts';

export const lockList = defineRemoteCommand({
  name: 'lock list',
  summary: 'list the current locks of a workspace',
  flags: {
    prefix: optional('TEXT', 'only paths that start with this, such as Content/', parsePrefix, 'default all'),
    owner: optional('OWNER', 'only the locks of this owner; case-sensitive', parseTokenOwner, 'default all'),
    waiting: toggle('list the waiting requests instead of the locks'),
  },
  example: '--prefix Content/',
  async run({ flags: { waiting, ...filter } }, connect) {
    const { client, workspace, within, report } = await connect();
    if (waiting) {
      const { items, incomplete } = await client.listQueue({ workspace }, within());
      if (incomplete !== undefined) report(incomplete);
      const { prefix = '', owner } = filter;
      const queue = items.filter((each) => each.path.startsWith(prefix) && (owner ?? each.owner) === each.owner);
      return {
        document: { queue: queue.map(({ raw }) => raw) },
        lines: waitingTableText(queue, 'No waiting requests found.'),
      };
    }
    const { items, incomplete } = await client.listLocks({ workspace, filter }, within());
    if (incomplete !== undefined) report(incomplete);
    return {
      document: { locks: items.map(({ raw }) => raw) },
      lines: lockTableText(items, client.serverNow(), 'No locks found.'),
    };
  },
});
