import { mirrorAgeText, outdatedText } from '../../interface/outdated.ts';
import type { Compared, Lock, Outdated } from '../../interface/resources.ts';
import { type ApiResponse, insufficientScope, jsonApiResponse, Refusal, unavailable } from '../contract/response.ts';
import type { Scope } from '../contract/scopes.ts';
import { entityTag, type ReleaseDecision, type RenewDecision } from '../locks/change-lock.ts';
import { toLock } from '../locks/find.ts';
import type { Blocked, TakeDecision } from '../locks/take.ts';
import type { Waited } from '../locks/wait-terms.ts';

type Acquisition = Waited<TakeDecision>;

/** Returns the lock, or throws the reason why it was not acquired. */
export function acquiredLock(
  acquisition: Acquisition,
  branch: string | undefined,
): { readonly lock: Lock; readonly comparison: Compared } {
  switch (acquisition.kind) {
    case 'granted': {
      const [lock] = acquisition.locks.map(toLock);
      if (lock === undefined) throw new Error('The grant contains no lock.');
      return { lock, comparison: acquisition.comparison };
    }
    case 'blocked': {
      const { paths, queue, remainingSeconds, waitedSeconds } = acquisition;
      const lock = paths[0]?.lock;
      throw new Refusal('locked', obstacleText(acquisition), {
        ...(lock && { lock: toLock(lock) }),
        queue,
        headers: { 'retry-after': retryAfterSeconds(remainingSeconds), ...appliedWait(waitedSeconds) },
      });
    }
    case 'outdated':
      throw outdatedRefusal(branch, acquisition.comparison);
    default:
      throw acquisition.refusal;
  }
}

export function acquireResponse(workspace: string, branch: string | undefined, acquisition: Acquisition): ApiResponse {
  const { lock, comparison } = acquiredLock(acquisition, branch);
  const { latest, outdated, as_of } = comparison;
  const compared = latest !== 'off' && { outdated: outdated[0] ?? null, ...(as_of !== undefined && { as_of }) };
  return lockResponse(201, workspace, { ...lock, ...compared }, appliedWait(acquisition.waitedSeconds));
}

export const appliedWait = (seconds: number | undefined): Readonly<Record<string, string>> =>
  seconds === undefined ? {} : { 'preference-applied': `wait=${seconds}` };

export function outdatedRefusal(
  branch: string | undefined,
  { outdated, as_of, gap }: Compared,
  shown: Outdated | readonly Outdated[] | undefined = outdated[0],
): Refusal {
  const [first] = outdated;
  if (first === undefined && gap !== undefined) {
    const detail = `The workspace refuses locks on outdated files, so nothing was locked. ${gap.reason}`;
    return gap.isLasting ? new Refusal('outdated', detail) : unavailable(detail);
  }
  const age = as_of === undefined ? '' : ` ${mirrorAgeText(as_of)}`;
  const more = outdated.length > 1 ? ` ${outdated.length - 1} more of the files are outdated, too.` : '';
  const text = first === undefined ? '' : outdatedText(first, branch);
  return new Refusal('outdated', `${text}${more}${age}`, { outdated: shown });
}

/** Returns the lock with its new end, or throws the reason why it was not renewed. */
export function renewedLock(path: string, renewal: RenewDecision): Lock {
  switch (renewal.kind) {
    case 'renewed':
      return renewal.lock;
    case 'lasts-longer':
      throw new Refusal('invalid-request', 'The lock already lasts longer than that. Choose a longer time.');
    case 'absent':
      throw new Refusal('lock-changed', `There is no lock on ${path} to renew. It was released or has expired.`);
    case 'another-lock':
      throw anotherLock(renewal.lock);
    case 'another-owner':
      throw ofAnotherOwner(renewal.lock, 'Only its owner can renew it.');
  }
}

export const renewResponse = (workspace: string, path: string, renewal: RenewDecision): ApiResponse =>
  lockResponse(200, workspace, renewedLock(path, renewal));

/** Why a lock was not released; undefined if it was. `scopes`: the token's, if it tried to force the release. */
export function releaseRefusal(
  path: string,
  release: ReleaseDecision,
  scopes: readonly Scope[] | undefined,
): Refusal | undefined {
  switch (release.kind) {
    case 'released':
      return undefined;
    case 'absent':
      return new Refusal('not-found', `There is no lock on ${path}. It was released, has expired, or never existed.`);
    case 'another-lock':
      return anotherLock(release.lock);
    case 'another-owner': {
      const { lock } = release;
      if (!scopes)
        return ofAnotherOwner(lock, 'A token with the scope locks:admin can release it, with --force or ?force=true.');
      const { problem, message, extras } = insufficientScope('locks:admin', scopes);
      return new Refusal(problem, `${lock.path} is ${heldBy(lock)}. ${message}`, { ...extras, lock });
    }
  }
}

const anotherLock = (lock: Lock): Refusal =>
  new Refusal('lock-changed', `The lock on ${lock.path} is not the one in the request: it is ${heldBy(lock)}.`, {
    lock,
    headers: { etag: entityTag(lock.id) },
  });

const ofAnotherOwner = (lock: Lock, rule: string): Refusal =>
  new Refusal('lock-of-another-owner', `${lock.path} is ${heldBy(lock)}. ${rule}`, { lock });

/** Most locks are released long before they expire. A client that sleeps until then would miss the release. */
const maxRetryAfterSeconds = 5;

export const retryAfterSeconds = (remainingSeconds: number): string =>
  String(Math.max(1, Math.min(remainingSeconds, maxRetryAfterSeconds)));

/** Why the first blocked path is not available. */
export function obstacleText({ paths: [first], next }: Blocked): string {
  const lock = first?.lock;
  if (lock === undefined) {
    const run = next?.origin ? ` (${next.origin})` : '';
    return `${first?.path} is free, but ${next?.owner}${run} is first in line for it.`;
  }
  return `${lock.path} is ${heldBy(toLock(lock))}.`;
}

const heldBy = ({ owner, expires_at, origin, note }: Lock): string =>
  `held by ${owner} until ${expires_at}${origin === null ? '' : `, acquired from ${origin}`}${note === null ? '' : `, with the note "${note}"`}`;

const lockResponse = (status: number, workspace: string, lock: Lock, headers?: ApiResponse['headers']): ApiResponse =>
  jsonApiResponse(status, lock, {
    ...headers,
    etag: entityTag(lock.id),
    location: `/v1/workspaces/${workspace}/locks/${encodeURIComponent(lock.path)}`,
  });
