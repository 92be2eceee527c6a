import { inParallel } from '../client/in-parallel.ts';
import { lookUp } from '../client/lists.ts';
import type { LockPath } from '../interface/lock-path.ts';
import { heldText } from '../locks/messages.ts';
import type { RemoteService } from './connect.ts';

interface ReleaseRequest {
  readonly paths: readonly LockPath[];
  readonly force: boolean;
  readonly reason?: string | undefined;
}

/**
 * Releases the current locks, but no later ones on the same paths. Releases locks of others only with `force`, and
 * names their holders. Returns a sentence for each path that was not released.
 */
export async function releaseRemoteLocks(
  { client, workspace, within, report }: RemoteService,
  { paths, force, reason }: ReleaseRequest,
) {
  const find = await lookUp(client, workspace, paths, within());

  /** Returns the problem; undefined if the lock was released. */
  async function release(path: LockPath): Promise<string | undefined> {
    const found = find(path);
    if (found.kind === 'failed') throw found.error;
    if (found.kind === 'unknown') return `${path} was not released. ${found.reason}`;
    if (found.kind === 'absent') return `There is no lock on ${path}.`;
    const { lock } = found;
    // Without id and ETag, the request would release whatever lock is current when it arrives.
    if (lock.id === undefined && lock.etag === undefined)
      return `${path} was not released: the service does not identify its locks by id or ETag.`;
    const held = heldText(path, lock, client.serverNow());
    if (force) report(`${held}.`);
    // A service without marks may ignore the id, and a repeated request may then release a later lock.
    const once = lock.etag === undefined && lock.fence === undefined;
    const result = await client.releaseLock({ workspace, path, proof: lock, force, reason, once, found }, within());
    switch (result.kind) {
      case 'released':
        return undefined;
      case 'absent':
        return `There is no lock on ${path}.`;
      case 'other':
        return `The lock on ${path} has already ended. A newer one was left alone: ${heldText(path, result.holder, client.serverNow())}.`;
      case 'failed': {
        const { isAboutHolder, message } = result.error;
        return isAboutHolder && !force
          ? `${held}. It was not released. To release it anyway, add --force --reason TEXT; the token needs the scope locks:admin.`
          : `${path} ${result.mayBeDone ? 'may not have been' : 'was not'} released. ${message}`;
      }
    }
  }

  const requested = [...new Set(paths)];
  const problems = await inParallel(requested, release);
  return {
    released: requested.filter((_, index) => problems[index] === undefined),
    problems: problems.filter((problem) => problem !== undefined),
  };
}
