import { type KnownLock, type LookupResult, listOnPaths, lookupIn, ServiceError } from '../../../client/client.ts';
import type { LockPath } from '../../../interface/lock-path.ts';
import { foldCase } from '../../locks/windows-path.ts';
import { CommandError } from '../definition/command.ts';
import { holderText } from '../output/locks.ts';
import type { RemoteService } from './remote-command.ts';

export type CheckedPath = Awaited<ReturnType<typeof checkLocks>>[number];

export async function checkLocks(remote: RemoteService, paths: readonly LockPath[]) {
  const [owner, find] = await Promise.all([remote.client.getOwner(remote.within()), findLocks(remote, paths)]);
  return [...new Set(paths)].map((path) => {
    const found = find(path);
    if (found.kind === 'failed') throw found.error;
    if (found.kind === 'unknown') throw new CommandError(found.reason);
    const lock = found.kind === 'locked' ? found.lock : undefined;
    const status = lock === undefined ? 'free' : lock.owner === owner ? 'yours' : 'theirs';
    return { path, lock, status } as const;
  });
}

async function findLocks({ client, workspace, within }: RemoteService, paths: readonly LockPath[]) {
  const checked = await client.checkPaths({ workspace, paths }, within());
  // Without names of files in other case, as on a service that knows only the interface.
  if (checked.kind === 'unsupported') return lookupIn(listOnPaths(client, workspace, paths, within()));
  const asked = new Set<string>(paths);
  const byPath = new Map(checked.locks.map((lock): [string, KnownLock] => [lock.path, lock]));
  // With --windows-paths, the locked path may be in another case.
  const others = checked.locks.filter(({ path }) => !asked.has(path));
  const byFile = new Map(others.map((lock): [string, KnownLock] => [foldCase(lock.path), lock]));
  return (path: LockPath): LookupResult => {
    const lock = byPath.get(path) ?? byFile.get(foldCase(path));
    return lock === undefined ? { kind: 'absent' } : { kind: 'locked', lock };
  };
}

/** Its errors keep people from committing. */
export async function checkStagedLocks(connect: () => Promise<RemoteService>, paths: readonly LockPath[]) {
  try {
    return await checkLocks(await connect(), paths);
  } catch (error) {
    if (!(error instanceof ServiceError || error instanceof CommandError)) throw error;
    const exitCode = error instanceof CommandError ? error.exitCode : undefined;
    throw new CommandError(`${error.message} To commit without the check: git commit --no-verify.`, exitCode);
  }
}

export function checkText({ path, status, lock }: CheckedPath): string {
  if (lock === undefined) return `${path} is free.`;
  const owner = status === 'yours' ? `you (${lock.owner})` : lock.owner;
  return `${path} is held by ${holderText({ ...lock, owner })}.`;
}
