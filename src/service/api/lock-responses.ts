import { mirrorAgeText, outdatedText } from '../../interface/outdated.ts';
import type { Compared, Lock, Outdated } from '../../interface/resources.ts';
import { type ApiResponse, jsonApiResponse, Refusal, unavailable } from '../contract/response.ts';
import { entityTag, type RenewDecision, type RenewRequest } from '../locks/change-lock.ts';
import { toLock } from '../locks/find.ts';
import type { Acquisition } from '../locks/locks.ts';
import type { Blocked } from '../locks/take.ts';

/** The lock, or why there is none. */
export function acquiredLock(
  acquisition: Acquisition,
  branch: string | undefined,
): { readonly lock: Lock; readonly comparison: Compared } {
  switch (acquisition.kind) {
    case 'granted': {
      const [lock] = acquisition.locks.map(toLock);
      if (lock === undefined) throw new Error('The request was granted no lock.');
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

export function renewResponse({ workspace, path }: RenewRequest, renewal: RenewDecision): ApiResponse {
  switch (renewal.kind) {
    case 'renewed':
    case 'lasts-longer':
      return lockResponse(200, workspace, renewal.lock);
    case 'absent':
      throw new Refusal('lock-changed', `There is no lock on ${path} to renew. It was released or has expired.`);
    case 'another-lock':
      throw anotherLock(renewal.lock);
    case 'another-owner': {
      const { lock } = renewal;
      const detail = `Only the owner of a lock can renew it: ${path} is ${heldBy(lock)}.`;
      throw new Refusal('lock-of-another-owner', detail, { lock });
    }
  }
}

export const anotherLock = (lock: Lock): Refusal =>
  new Refusal('lock-changed', `If-Match does not match the lock on ${lock.path}, which is ${heldBy(lock)}.`, {
    lock,
    headers: { etag: entityTag(lock.id) },
  });

/** Most locks are released long before they expire. A client that slept until then would miss the release. */
const maxRetryAfterSeconds = 5;

export const retryAfterSeconds = (remainingSeconds: number): string =>
  String(Math.max(1, Math.min(remainingSeconds, maxRetryAfterSeconds)));

/** What keeps the first of the paths from a request. */
export function obstacleText({ paths: [first], next }: Blocked): string {
  const lock = first?.lock;
  if (lock === undefined) {
    const run = next?.origin ? ` (${next.origin})` : '';
    return `${first?.path} is free, but ${next?.owner}${run} is first in line for it.`;
  }
  return `${lock.path} is ${heldBy(toLock(lock))}.`;
}

export const heldBy = ({ owner, expires_at, origin, note }: Lock): string =>
  `held by ${owner} until ${expires_at}${origin === null ? '' : `, acquired from ${origin}`}${note === null ? '' : `, with the note "${note}"`}`;

const lockResponse = (status: number, workspace: string, lock: Lock, headers?: ApiResponse['headers']): ApiResponse =>
  jsonApiResponse(status, lock, {
    ...headers,
    etag: entityTag(lock.id),
    location: `/v1/workspaces/${workspace}/locks/${encodeURIComponent(lock.path)}`,
  });
