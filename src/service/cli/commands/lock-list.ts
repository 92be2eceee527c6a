import type { Lock } from '../../../interface/resources.ts';
import { listLocks } from '../../locks/list.ts';
import type { Storage } from '../../storage/storage.ts';
import { defineCommand } from '../command.ts';
import { withStorage } from '../open-storage.ts';
import { printJson, printLines } from '../output/print.ts';
import { table } from '../output/table.ts';
import { shownTime, shownUntil } from '../output/times.ts';
import { commonFlags } from './common-flags.ts';
import { existingWorkspace, workspaceArgument } from './workspace-argument.ts';

const pageSize = 1_000;

async function allLocks(storage: Storage, workspace: string): Promise<Lock[]> {
  const all: Lock[] = [];
  let after: string | undefined;
  do {
    const { locks, next } = await listLocks(storage, { workspace, after, limit: pageSize });
    all.push(...locks);
    after = next;
  } while (after !== undefined);
  return all;
}

/** By the clock that decides when a lock ends. */
async function databaseTime({ read, now }: Storage): Promise<number> {
  return (await read.selectNoFrom(now.as('now')).executeTakeFirstOrThrow()).now;
}

export const lockList = defineCommand({
  name: 'lock list',
  summary: 'list the locks that are held in a workspace',
  details: [],
  arguments: { workspace: workspaceArgument },
  flags: commonFlags,
  example: 'game',
  async run({ flags, arguments: { workspace: id }, environment, io }) {
    const { locks, now } = await withStorage({ ...flags, environment }, 'there', async (storage) => {
      await existingWorkspace(storage, id);
      return { locks: await allLocks(storage, id), now: await databaseTime(storage) };
    });
    if (flags.json) {
      printJson(io.stdout, { locks });
      return;
    }
    if (locks.length === 0) {
      printLines(io.stdout, [`No path of the workspace "${id}" is locked. Anybody may take a lock there now.`]);
      return;
    }
    const rows = locks.map(({ path, owner, acquired_at, expires_at, origin }) => [
      path,
      owner,
      shownTime(acquired_at),
      `${shownUntil(expires_at, now)} (${shownTime(expires_at)})`,
      origin ?? '',
    ]);
    printLines(io.stdout, table(['PATH', 'OWNER', 'SINCE', 'EXPIRES', 'ORIGIN'], rows));
  },
});
