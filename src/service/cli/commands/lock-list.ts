import { listLocks } from '../../locks/list.ts';
import { listQueue, withoutWaitId } from '../../locks/queue.ts';
import { parseTokenOwner } from '../../tokens/new-token.ts';
import { optional, toggle } from '../definition/flags.ts';
import { parsePrefix } from '../definition/values.ts';
import { lockTableText, waitingTableText } from '../output/locks.ts';
import { defineRemoteCommand } from '../remote/remote-command.ts';
import { remoteOrLocal } from '../remote/remote-or-local.ts';
import { defineStorageCommand, workspaceArgument } from '../storage/storage-command.ts';

const common = {
  name: 'lock list',
  summary: 'list the current locks of a workspace',
  flags: {
    prefix: optional('TEXT', 'only paths that start with this, such as Content/', parsePrefix, 'default all'),
    owner: optional('OWNER', 'only the locks of this owner; case-sensitive', parseTokenOwner, 'default all'),
    waiting: toggle('list those who wait for locks instead'),
  },
} as const;

const noLocksText = 'No locks found.';
const noQueueText = 'No waiting requests found.';

/** No workspace has more. */
const maxLocks = 10_000_000;

const remote = defineRemoteCommand({
  ...common,
  example: '--prefix Content/',
  async run({ flags: { waiting, ...filter } }, connect) {
    const { client, workspace, within, report } = await connect();
    if (waiting) {
      const { items, incomplete } = await client.listQueue({ workspace }, within());
      if (incomplete !== undefined) report(incomplete);
      const queue = items.filter(matches(filter));
      return { document: { queue: queue.map(({ raw }) => raw) }, lines: waitingTableText(queue, noQueueText) };
    }
    const { items, incomplete } = await client.listLocks({ workspace, filter }, within());
    if (incomplete !== undefined) report(incomplete);
    return {
      document: { locks: items.map(({ raw }) => raw) },
      lines: lockTableText(items, client.serverNow(), noLocksText),
    };
  },
});

const local = defineStorageCommand({
  ...common,
  arguments: { workspace: workspaceArgument },
  example: 'game',
  async run({ flags: { prefix, owner, waiting }, arguments: { workspace } }, storage) {
    const filter = { prefix, owner };
    if (waiting) {
      const queue = (await listQueue(storage, { workspace })).filter(matches(filter));
      return { document: { queue: queue.map(withoutWaitId) }, lines: waitingTableText(queue, noQueueText) };
    }
    const { locks } = await listLocks(storage, { workspace, ...filter, limit: maxLocks });
    // The clock of the database decides when a lock expires.
    const { now } = await storage.read.selectNoFrom(storage.now.as('now')).executeTakeFirstOrThrow();
    return { document: { locks }, lines: lockTableText(locks, now, noLocksText) };
  },
});

export const lockList = remoteOrLocal(remote, local);

interface Filter {
  readonly prefix?: string | undefined;
  readonly owner?: string | undefined;
}

const matches =
  ({ prefix = '', owner }: Filter) =>
  (waiting: { readonly path: string; readonly owner: string | undefined }): boolean =>
    waiting.path.startsWith(prefix) && (owner === undefined || waiting.owner === owner);
