import type { Lock } from '../../../interface/resources.ts';
import { listLocks } from '../../locks/list.ts';
import { listQueue } from '../../locks/read-queue.ts';
import { withoutPlaceId } from '../../locks/responses.ts';
import type { Storage } from '../../storage/storage.ts';
import { parseTokenOwner } from '../../tokens/new-token.ts';
import { optional, toggle } from '../definition/flags.ts';
import { parsePrefix } from '../definition/values.ts';
import { lockTableText, waitingTableText } from '../output/locks.ts';
import { eitherWay } from '../remote/either-way.ts';
import { defineRemoteCommand } from '../remote/remote-command.ts';
import { defineStorageCommand, workspaceArgument } from '../storage/storage-command.ts';

const both = {
  name: 'lock list',
  summary: 'list the current locks of a workspace',
  flags: {
    prefix: optional('TEXT', 'only paths that start with this, such as Content/', 'default all', parsePrefix),
    owner: optional('OWNER', 'only the locks of this owner; case-sensitive', 'default all', parseTokenOwner),
    waiting: toggle('list those who wait for locks instead'),
  },
} as const;

const noSuchLock = 'No such path is locked.';

const remote = defineRemoteCommand({
  ...both,
  example: '--prefix Content/',
  async run({ flags: { waiting, ...filter } }, connect) {
    const { client, workspace, within, tell } = await connect();
    if (waiting) {
      const { items, incomplete } = await client.listQueue({ workspace }, within());
      if (incomplete !== undefined) tell(incomplete);
      const queue = items.filter(isWanted(filter));
      return { document: { queue: queue.map(({ raw }) => raw) }, lines: waitingTableText(queue) };
    }
    const { items, incomplete } = await client.listLocks({ workspace, filter }, within());
    if (incomplete !== undefined) tell(incomplete);
    return {
      document: { locks: items.map(({ raw }) => raw) },
      lines: lockTableText(items, client.serverNow(), noSuchLock),
    };
  },
});

const local = defineStorageCommand({
  ...both,
  arguments: { workspace: workspaceArgument },
  example: 'game',
  async run({ flags: { prefix, owner, waiting }, arguments: { workspace: id } }, storage) {
    if (waiting) {
      const queue = (await listQueue(storage, { workspace: id })).filter(isWanted({ prefix, owner }));
      return { document: { queue: queue.map(withoutPlaceId) }, lines: waitingTableText(queue) };
    }
    const found = await allLocks(storage, id, prefix);
    const locks = owner === undefined ? found : found.filter((lock) => lock.owner === owner);
    const isAll = prefix === undefined && owner === undefined;
    const none = isAll ? `No path of the workspace "${id}" is locked.` : noSuchLock;
    return { document: { locks }, lines: lockTableText(locks, await databaseTime(storage), none) };
  },
});

export const lockList = eitherWay(remote, local);

interface Filter {
  readonly prefix?: string | undefined;
  readonly owner?: string | undefined;
}

const isWanted =
  ({ prefix = '', owner }: Filter) =>
  (waiting: { readonly path: string; readonly owner: string | undefined }): boolean =>
    waiting.path.startsWith(prefix) && (owner === undefined || waiting.owner === owner);

const pageSize = 1_000;

async function allLocks(storage: Storage, workspace: string, prefix: string | undefined): Promise<Lock[]> {
  const all: Lock[] = [];
  let after: string | undefined;
  do {
    const { locks, next } = await listLocks(storage, { workspace, prefix, after, limit: pageSize });
    all.push(...locks);
    after = next;
  } while (after !== undefined);
  return all;
}

/** Current time of the database, whose clock decides when a lock expires. */
async function databaseTime({ read, now }: Storage): Promise<number> {
  return (await read.selectNoFrom(now.as('now')).executeTakeFirstOrThrow()).now;
}
