import type { LockPath } from '../../interface/lock-path.ts';
import { mirrorAgeText, outdatedText } from '../../interface/outdated.ts';
import type { Compared, Lock } from '../../interface/resources.ts';
import { Refusal, unavailable } from '../contract/problem.ts';
import { type ApiResponse, jsonApiResponse } from '../contract/response.ts';
import type { AcquireDecision, AcquireRequest } from './acquire.ts';
import { entityTag } from './id-match.ts';
import type { FirstInLine } from './line.ts';
import type { LockQuotas, QuotaExceeded } from './lock-quota.ts';
import type { QueuedRequest } from './read-queue.ts';
import type { RenewDecision, RenewRequest } from './renew.ts';

export function acquireResponse(
  { workspace, path }: Pick<AcquireRequest, 'workspace' | 'path'>,
  comparison: Compared | undefined,
  acquisition: AcquireDecision | QuotaExceeded,
): ApiResponse | Refusal {
  switch (acquisition.kind) {
    case 'acquired': {
      const { latest = 'off', outdated: [outdated = null] = [], as_of } = comparison ?? {};
      const compared = { outdated, ...(as_of !== undefined && { as_of }) };
      return lockResponse(201, workspace, { ...acquisition.lock, ...(latest !== 'off' && compared) });
    }
    case 'held':
      return locked(path, acquisition.lock, acquisition.remainingSeconds);
    case 'queued':
      return queued(path, acquisition.first);
    case 'superseded':
      return new Refusal('request-in-progress', `This client has sent a newer request for ${path} with the same key.`, {
        headers: { 'retry-after': '1' },
      });
    case 'exceeded':
      return quotaExceeded(acquisition);
  }
}

export function outdatedRefusal(
  { branch }: { readonly branch?: string | undefined },
  comparison: Compared | undefined,
): Refusal | undefined {
  const { latest, outdated: [outdated] = [], as_of, gap } = comparison ?? {};
  if (latest !== 'refuse') return undefined;
  if (outdated === undefined) {
    if (gap === undefined) return undefined;
    const detail = `The workspace refuses locks on outdated files, so nothing was locked. ${gap.reason}`;
    return gap.isLasting ? new Refusal('outdated', detail) : unavailable(detail);
  }
  const age = as_of === undefined ? '' : ` ${mirrorAgeText(as_of)}`;
  return new Refusal('outdated', `${outdatedText(outdated, branch)}${age}`, { outdated });
}

export function renewResponse({ workspace, path }: RenewRequest, renewal: RenewDecision): ApiResponse {
  switch (renewal.kind) {
    case 'renewed':
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

export function locked(asked: LockPath, lock: Lock, remainingSeconds: number): Refusal {
  const sameFile = asked === lock.path ? '' : ` On Windows, ${asked} is the same file.`;
  return new Refusal('locked', `${lock.path} is ${heldBy(lock)}.${sameFile}`, {
    lock,
    headers: { 'retry-after': String(Math.min(remainingSeconds, maxRetryAfterSeconds)) },
  });
}

const queued = (path: LockPath, { owner, origin }: FirstInLine): Refusal =>
  new Refusal(
    'locked',
    `${path} is free, but ${owner}${origin === null ? '' : ` (${origin})`} is first in line for it.`,
    { headers: { 'retry-after': '1' } },
  );

export const heldBy = ({ owner, expires_at, origin, note }: Lock): string =>
  `held by ${owner} until ${expires_at}${origin === null ? '' : `, acquired by ${origin}`}${note === null ? '' : `, with the note "${note}"`}`;

/** The lock in a successful response of acquire() or renew(), which may come from storage. */
export const lockIn = ({ body }: ApiResponse): Lock =>
  // Written by lockResponse(), so it is a valid lock.
  JSON.parse(body) as Lock;

/** The id of the place names a token. */
export const withoutPlaceId = ({ placeId, ...request }: QueuedRequest): Omit<QueuedRequest, 'placeId'> => request;

const lockResponse = (status: number, workspace: string, lock: Lock): ApiResponse =>
  jsonApiResponse(status, lock, {
    etag: entityTag(lock.id),
    location: `/v1/workspaces/${workspace}/locks/${encodeURIComponent(lock.path)}`,
  });

const quotaTexts: Readonly<Record<keyof LockQuotas, (max: number) => string>> = {
  maxLocks: (max) => `The workspace has its maximum of ${max} locks. Release some.`,
  maxLocksPerOwner: (max) => `The owner of this token has the maximum of ${max} locks in this workspace. Release some.`,
};

const quotaExceeded = ({ quota, max }: QuotaExceeded): Refusal => new Refusal('quota-exceeded', quotaTexts[quota](max));
