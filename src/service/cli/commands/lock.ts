import { canonicalLockPath, parseHeldPath } from '../../../interface/lock-path.ts';
import type { Lock } from '../../../interface/resources.ts';
import { commitReleasesOf } from '../../locks/commit-releases.ts';
import { listLocks } from '../../locks/list.ts';
import type { Storage } from '../../storage/storage.ts';
import { CommandError } from '../command.ts';
import { required } from '../flags.ts';
import { holderText, lockTableText } from '../output/locks.ts';
import * as remote from '../remote/lock.ts';
import { eitherWay } from '../remote/remote-command.ts';
import { defineStorageCommand, operatorActor, requireWorkspace, workspaceArgument } from '../storage-command.ts';

const pageSize = 1_000;

const localList = defineStorageCommand({
  name: 'lock list',
  summary: remote.remoteLockList.summary,
  arguments: { workspace: workspaceArgument },
  flags: remote.listFlags,
  example: 'game',
  async run({ flags: { prefix, owner }, arguments: { workspace: id } }, storage) {
    await requireWorkspace(storage, id);
    const found = await allLocks(storage, id, prefix);
    const locks = owner === undefined ? found : found.filter((lock) => lock.owner === owner);
    const isAll = prefix === undefined && owner === undefined;
    const none = isAll
      ? `No path of the workspace "${id}" is locked. Anybody may take a lock there now.`
      : remote.noSuchLock;
    return { document: { locks }, lines: lockTableText(locks, await databaseTime(storage), none) };
  },
});

export const lockList = eitherWay(remote.remoteLockList, localList);

const localRelease = defineStorageCommand({
  name: 'lock release',
  summary: remote.remoteLockRelease.summary,
  details: ['Its holder relies on it: make sure that the run that took it has ended.'],
  arguments: {
    workspace: workspaceArgument,
    path: required('PATH', 'the locked path', (text) => canonicalLockPath(text, parseHeldPath)),
  },
  flags: remote.releaseFlags,
  example: 'game Content/Hero.uasset --force',
  async run({ flags, arguments: { workspace, path } }, storage) {
    await requireWorkspace(storage, workspace);
    const { force, reason } = flags;
    const releaser = { ...operatorActor(), owner: null, force, ...(reason && { reason }) };
    const [release = { kind: 'absent' as const }] = await commitReleasesOf(storage)(workspace, (_, release) =>
      release([{ workspace, path, match: null, releaser }]),
    );
    switch (release.kind) {
      case 'released':
        return {
          document: { released: release.lock },
          lines: [`Released ${path}. It was held by ${holderText(release.lock)}.`],
        };
      case 'absent':
        throw new CommandError(`There is no lock on ${path} in the workspace "${workspace}".`);
      case 'another-owner':
      // Does not occur with `match: null`.
      case 'another-lock':
        throw new CommandError(
          `The lock on ${path} is held by ${holderText(release.lock)}. Nothing was released. To release it anyway, add --force.`,
        );
    }
  },
});

export const lockRelease = eitherWay(remote.remoteLockRelease, localRelease);

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
