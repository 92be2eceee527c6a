import { listOnPaths } from '../client/lists.ts';
import { knowsNoRoute, ServiceError } from '../client/service-error.ts';
import { clockSlackMs } from '../client/time.ts';
import { CommandError } from '../command/command.ts';
import type { Ttl } from '../interface/duration.ts';
import { pluralize } from '../interface/format.ts';
import type { LockPath } from '../interface/lock-path.ts';
import { heldText } from '../locks/messages.ts';
import type { RemoteService } from './connect.ts';

type CheckedPath = Awaited<ReturnType<typeof checkLocks>>[number];

/** Up to this number, paths are looked up one by one, because the list of all locks may take longer. */
const maxSingle = 100;

export async function checkLocks({ client, workspace, within }: RemoteService, paths: readonly LockPath[]) {
  /** Undefined if the service knows only the interface. */
  const ownerOfToken = client.getOwner(within()).catch((error: unknown) => {
    if (error instanceof ServiceError && knowsNoRoute(error) && !client.isOurs()) return undefined;
    throw error;
  });
  const [owner, { items, incomplete }] = await Promise.all([
    ownerOfToken,
    listOnPaths(client, workspace, paths, within(), maxSingle),
  ]);
  // The path may be locked, although the list does not show it.
  if (incomplete !== undefined) throw new CommandError(incomplete);
  const byPath = new Map(items.map((lock) => [lock.path, lock] as const));
  return [...new Set(paths)].map((path) => {
    const lock = byPath.get(path);
    const ofOwner = owner === undefined ? 'unknown' : lock?.owner === owner ? 'yours' : 'theirs';
    return { path, lock, status: lock === undefined ? 'free' : ofOwner } as const;
  });
}

/** The locks on the paths. Fails unless the user holds all of them. */
export async function checkPaths(remote: RemoteService, paths: readonly LockPath[]) {
  const checked = await checkLocks(remote, paths);
  const refused = checked.filter(({ status }) => status !== 'yours');
  const of = `${refused.length} of ${pluralize(checked.length, 'path')}`;
  const advice = 'Lock free paths with "workspace-service lock take PATH", and wait for others with --wait 15m.';
  const hold = refused.some(({ status }) => status === 'unknown')
    ? 'It is unknown whether you hold'
    : 'You do not hold';
  return {
    document: { paths: checked.map(({ path, status, lock }) => ({ path, status, lock: lock?.raw ?? null })) },
    lines: checked.map((each) => checkText(each, remote.client.serverNow())),
    failure: refused.length === 0 ? undefined : `${hold} the lock on ${of}. ${advice}`,
  };
}

export async function extendLock(remote: RemoteService, path: LockPath, ttl: Ttl) {
  const { client, workspace, within } = remote;
  const [checked = { path, status: 'free', lock: undefined } as const] = await checkLocks(remote, [path]);
  if (checked.status !== 'yours' || checked.lock === undefined)
    throw new CommandError(checkText(checked, client.serverNow()));
  // A renewal may also shorten a lock. The same ttl again is accepted, even right after the lock was taken.
  if (Date.parse(checked.lock.expires_at ?? '') > client.serverNow() + ttl.seconds * 1_000 + clockSlackMs) {
    const held = checkText(checked, client.serverNow());
    throw new CommandError(`${held} With this --ttl it would end earlier, so it was not changed.`);
  }
  const request = { workspace, path, type: 'exclusive', ttl, idempotencyKey: crypto.randomUUID() };
  const result = await client.renewLock({ ...request, proof: checked.lock }, within());
  if (result.kind === 'renewed') return result.lock;
  const { message } = result.kind === 'replaced' ? { message: 'The service granted another lock.' } : result.error;
  throw new CommandError(`The lock on ${path} was not extended. ${message}`);
}

function checkText({ path, status, lock }: CheckedPath, now: number): string {
  if (lock === undefined) return `${path} is free.`;
  const owner = status === 'yours' ? `you (${lock.owner})` : lock.owner;
  const held = heldText(path, { ...lock, owner }, now);
  return status === 'unknown' ? `${held}, and this service does not say whether by you.` : `${held}.`;
}
