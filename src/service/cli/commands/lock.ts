import { canonicalLockPath, parseHeldPath } from '../../../interface/lock-path.ts';
import type { Lock } from '../../../interface/resources.ts';
import { listLocks } from '../../locks/list.ts';
import { releaseLock } from '../../locks/release.ts';
import { shareReleases } from '../../locks/share-releases.ts';
import type { Storage } from '../../storage/storage.ts';
import { Failure } from '../command.ts';
import { required, toggle } from '../flags.ts';
import { shownTime, shownUntil, table } from '../output/print.ts';
import { defineStorageCommand, operatorActor, requireWorkspace, workspaceArgument } from '../storage-command.ts';

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

export const lockList = defineStorageCommand({
  name: 'lock list',
  summary: 'list the locks that are held in a workspace',
  arguments: { workspace: workspaceArgument },
  example: 'game',
  async run({ arguments: { workspace: id } }, storage) {
    await requireWorkspace(storage, id);
    const locks = await allLocks(storage, id);
    const now = await databaseTime(storage);
    const rows = locks.map(({ path, owner, acquired_at, expires_at, origin, note }) => [
      path,
      owner,
      shownTime(acquired_at),
      `${shownUntil(expires_at, now)} (${shownTime(expires_at)})`,
      origin ?? '',
      note ?? '',
    ]);
    return {
      document: { locks },
      lines: table(
        ['PATH', 'OWNER', 'SINCE', 'EXPIRES', 'ORIGIN', 'NOTE'],
        rows,
        `No path of the workspace "${id}" is locked. Anybody may take a lock there now.`,
      ),
    };
  },
});

function heldBy({ owner, acquired_at, expires_at, origin, note }: Lock): string {
  const run = origin === null ? 'from an unknown run' : `from the run ${origin}`;
  const told = note === null ? '' : `, with the note "${note}"`;
  return `${owner}, ${run}, since ${shownTime(acquired_at)} until ${shownTime(expires_at)}${told}`;
}

export const lockRelease = defineStorageCommand({
  name: 'lock release',
  summary: 'release a lock that somebody else has left behind',
  details: ['Its holder relies on it: make sure that the run that took it has ended.'],
  arguments: {
    workspace: workspaceArgument,
    path: required('PATH', 'the locked path', (text) => canonicalLockPath(text, parseHeldPath)),
  },
  flags: { force: toggle('release the lock although somebody else holds it') },
  example: 'game Content/Hero.uasset --force',
  async run({ flags, arguments: { workspace, path } }, storage) {
    await requireWorkspace(storage, workspace);
    const releaser = { ...operatorActor(), owner: null, force: flags.force };
    const release = await storage.commit({ workspace }, (db) =>
      releaseLock(db, storage.now, { workspace, path, match: null, releaser }),
    );
    switch (release.kind) {
      case 'released':
        await shareReleases(storage.broadcast).tell({ workspace, path, id: release.lock.id });
        return {
          document: { released: release.lock },
          lines: [`Released ${path}. It was held by ${heldBy(release.lock)}.`],
        };
      case 'absent':
        throw new Failure(`There is no lock on ${path} in the workspace "${workspace}".`);
      case 'another-owner':
      // Not asked for a certain lock, this is the answer to a lock that is not the operator's.
      case 'another-lock':
        throw new Failure(
          `The lock on ${path} is held by ${heldBy(release.lock)}. Nothing was released. To release it anyway, add --force.`,
        );
    }
  },
});
