import type { Lock } from '../../../interface/resources.ts';
import { listLocks } from '../../locks/list.ts';
import type { Storage } from '../../storage/storage.ts';
import { parseTokenOwner } from '../../tokens/new-token.ts';
import { optional } from '../definition/flags.ts';
import { parsePrefix } from '../definition/values.ts';
import { lockTableText } from '../output/locks.ts';
import { eitherWay } from '../remote/either-way.ts';
import { defineRemoteCommand, shown } from '../remote/remote-command.ts';
import { defineStorageCommand, requireWorkspace, workspaceArgument } from '../storage/storage-command.ts';

const both = {
  name: 'lock list',
  summary: 'list the current locks of a workspace',
  flags: {
    prefix: optional('TEXT', 'only paths that start with this, such as Content/', 'default all', parsePrefix),
    owner: optional('OWNER', 'only the locks of this owner; case-sensitive', 'default all', parseTokenOwner),
  },
} as const;

const noSuchLock = 'No such path is locked.';

const remote = defineRemoteCommand({
  ...both,
  example: '--prefix Content/',
  async run({ flags: filter }, connect) {
    const { client, workspace, within, tell } = await connect();
    const { items, incomplete } = await client.listLocks({ workspace, filter }, within());
    if (incomplete !== undefined) tell(incomplete);
    return {
      document: { locks: items.map(({ raw }) => raw) },
      lines: lockTableText(items.map(shown), client.serverNow(), noSuchLock),
    };
  },
});

const local = defineStorageCommand({
  ...both,
  arguments: { workspace: workspaceArgument },
  example: 'game',
  async run({ flags: { prefix, owner }, arguments: { workspace: id } }, storage) {
    await requireWorkspace(storage, id);
    const found = await allLocks(storage, id, prefix);
    const locks = owner === undefined ? found : found.filter((lock) => lock.owner === owner);
    const isAll = prefix === undefined && owner === undefined;
    const none = isAll ? `No path of the workspace "${id}" is locked.` : noSuchLock;
    return { document: { locks }, lines: lockTableText(locks, await databaseTime(storage), none) };
  },
});

export const lockList = eitherWay(remote, local);

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
