import {
  type CallLimits,
  type Client,
  type KnownLock,
  type LostLock,
  lookUp,
  type ServiceError,
  withRequest,
} from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import { type Grant, type Intent, type LeaseIntent, parsedTtl } from '../../locks/ledger/entry.ts';
import { mayHaveExpired } from '../../locks/ownership.ts';
import type { LockSession } from '../../locks/session.ts';
import type { Context } from '../step/context.ts';
import type { CandidateResult, ReleaseCandidate, ReleaseCandidates } from './candidates.ts';

export interface ReleasesContext extends Pick<Context, 'clock'> {
  readonly client: Pick<Client, 'listLocks'>;
  readonly session: LockSession;
  readonly serverNow: () => number;
  /** The current service. Its token must not be sent to another one. */
  readonly service: string;
  readonly within: CallLimits;
}

/** A lock, a lease or an unanswered request that must be settled at the end of the step. */
export interface Release {
  /** When the last of its locks expires: the one that would block others longest comes first. */
  readonly expiry: number;
  /**
   * `sentAt` is the time of the first attempt that may have released the lock although its response was lost. The
   * results are empty if nothing was ever granted.
   */
  readonly attempt: (sentAt: number | undefined) => Promise<readonly CandidateResult[] | FailedRelease>;
  readonly failed: (reason: string, request?: string) => readonly CandidateResult[];
}

interface FailedRelease {
  readonly error: ServiceError;
  /** The service may have released the lock despite the error. */
  readonly mayBeDone: boolean;
  /** Another attempt may succeed whatever the error is. */
  readonly mayRetry?: boolean;
}

/** The locks of a lease are released with it. */
export function releasesOf(context: ReleasesContext, candidates: ReleaseCandidates): readonly Release[] {
  const { held, unanswered } = candidates;
  const open = new Map(candidates.leases.map((intent) => [intent.lease, intent]));
  // The ledger may have lost the line of the lease, but not the locks that the runner kept.
  for (const { grant } of held) {
    const { lease } = grant.lock;
    if (lease !== undefined && !open.has(lease)) open.set(lease, intentOf(grant, lease));
  }
  const byLease = Map.groupBy(held, ({ grant }) => grant.lock.lease);
  const releases = [
    ...[...open].map(([lease, intent]) => leaseRelease(context, intent, byLease.get(lease) ?? [], candidates)),
    ...(byLease.get(undefined) ?? []).map((candidate) => lockRelease(context, candidate, candidates)),
    ...unanswered.map((intent) => intentRelease(context, intent, candidates)),
  ];
  return releases.toSorted((one, other) => (other.expiry || 0) - (one.expiry || 0));
}

/** Releases a lock if it is provably ours. */
function lockRelease(
  context: ReleasesContext,
  candidate: ReleaseCandidate,
  candidates: Pick<ReleaseCandidates, 'renewalError'>,
): Release {
  const { session, clock, serverNow, service, within } = context;
  const { grant, loss, grantedAgain } = candidate;
  const { renewalError } = candidates;
  const failed: Release['failed'] = (reason, request) => [failedResult(candidate, reason, request)];

  return {
    expiry: Date.parse(grant.lock.expires_at),
    failed,
    async attempt(sentAt) {
      if (grant.service !== service) return failed(elsewhereText(grant.service, service));
      const releaseStatus = candidate.releaseStatus ?? (sentAt === undefined ? undefined : 'release-started');
      const current: ReleaseCandidate = { ...candidate, releaseStatus };
      const released = await session.release(grant, within, {
        mayBeReleased: releaseStatus !== undefined || grantedAgain === true,
      });
      switch (released.kind) {
        case 'released':
          return [{ kind: 'released', grant }];
        case 'absent': {
          // A lock that was to be renewed until the end of the job cannot have expired normally: it was lost, even if
          // the path is free now.
          const isUnrenewed = renewalError !== undefined && mayHaveExpired(grant.lock, serverNow());
          if (loss !== undefined || isUnrenewed) return [lostResult(current, 'nobody', renewalError)];
          const isReleased = sentAt !== undefined && candidate.releaseStatus === undefined;
          return [{ kind: isReleased ? 'released' : 'already-ended', grant }];
        }
        case 'other': {
          const { holder } = released;
          // Someone else held the path before the first attempt, so no attempt has released the lock.
          const wasHeldBefore =
            sentAt !== undefined && Date.parse(holder?.acquired_at ?? '') < serverNow() - (clock() - sentAt);
          return [lostResult(wasHeldBefore ? candidate : current, holder, renewalError)];
        }
        case 'ambiguous':
          return [grantedAgain ? lostResult(current, undefined, renewalError) : { kind: 'ambiguous', grant }];
        case 'unanswered':
        case 'failed':
          return { error: released.error, mayBeDone: released.kind === 'unanswered' || released.mayBeDone };
      }
    },
  };
}

/** Repeats the request of an intent until it is answered, and then releases its lock. */
function intentRelease(context: ReleasesContext, intent: Intent, { ledgerError }: ReleaseCandidates): Release {
  const { session, service, within } = context;
  /** Without keys in the service, repeating the request after a release would acquire another lock. */
  let grant: Grant | undefined;
  const failed: Release['failed'] = (reason, request) =>
    grant === undefined
      ? [{ kind: 'unanswered', intent, reason: withRequest(reason, request) }]
      : [failedResult({ grant, releaseStatus: undefined }, reason, request)];

  return {
    expiry: Date.parse(intent.at) + parsedTtl(intent).seconds * 1_000,
    failed,
    async attempt(sentAt) {
      if (intent.service !== service) return failed(elsewhereText(intent.service, service));
      if (grant === undefined) {
        const acquired = await session.acquire(intent, within);
        if (acquired.kind === 'held') return [];
        if (acquired.kind !== 'acquired') return { error: acquired.error, mayBeDone: false };
        grant = acquired.grant;
      }
      const granted = grant;
      // With damaged records, the service may replay a response about a lock that was released long ago.
      const earlier = sentAt === undefined ? undefined : 'release-started';
      const releaseStatus = ledgerError === undefined ? earlier : 'records-damaged';
      const released = await lockRelease(context, { grant, releaseStatus }, {}).attempt(undefined);
      if ('error' in released) return released;
      // The job never learned of this lock, so nothing relied on it.
      return released.map((one) => (one.kind === 'lost' ? { kind: 'already-ended', grant: granted } : one));
    },
  };
}

/** Ends a lease with one request, also if the response that would have granted it was lost. */
function leaseRelease(
  { client, session, service, serverNow, within }: ReleasesContext,
  intent: LeaseIntent,
  held: readonly ReleaseCandidate[],
  { renewalError }: ReleaseCandidates,
): Release {
  const failed: Release['failed'] = (reason, request) =>
    held.length > 0
      ? held.map((candidate) => failedResult(candidate, reason, request))
      : [{ kind: 'unanswered', intent: requestOf(intent), reason: withRequest(reason, request) }];

  return {
    expiry: held.reduce(
      (last, { grant }) => Math.max(last, Date.parse(grant.lock.expires_at)),
      Number.NEGATIVE_INFINITY,
    ),
    failed,
    async attempt() {
      if (intent.service !== service) return failed(elsewhereText(intent.service, service));
      const end = await session.endLease(intent, within);
      if (end.kind === 'ended') {
        const released = new Set(end.released);
        const lost = new Map<string, LostLock>(end.lost.map((one) => [one.path, one]));
        const paths = new Set<string>(held.map(({ grant }) => grant.path));
        return [
          ...held.map((candidate) =>
            leasedResult(candidate, released, lost.get(candidate.grant.path), { renewalError, now: serverNow() }),
          ),
          ...end.released.filter((path) => !paths.has(path)).map((path) => releasedResult(intent, path)),
        ];
      }
      const isUnsupported = end.kind === 'unsupported';
      // Only the list shows whether a gateway answered for a service with leases.
      if (isUnsupported && held.length === 0 && (await isUnknownIn(client, intent, within))) return [];
      return { error: end.error, mayBeDone: true, mayRetry: isUnsupported };
    },
  };
}

async function isUnknownIn(
  client: ReleasesContext['client'],
  { workspace, path, lease }: LeaseIntent,
  within: CallLimits,
): Promise<boolean> {
  const found = await lookUp(client, { workspace, path, attempts: 'once' }, within);
  return found.kind === 'absent' || (found.kind === 'locked' && found.lock.raw['lease'] !== lease);
}

/** The service decides what happened to each lock, whatever the ledger has. */
function leasedResult(
  candidate: ReleaseCandidate,
  released: ReadonlySet<string>,
  lost: LostLock | undefined,
  { renewalError, now }: { readonly renewalError: string | undefined; readonly now: number },
): CandidateResult {
  const { grant, loss } = candidate;
  const certain = { ...candidate, releaseStatus: undefined };
  if (released.has(grant.path)) return { kind: 'released', grant };
  const mayBeReleasedByUs = lost?.reason === 'released' && candidate.releaseStatus !== undefined;
  if (lost?.holder !== undefined) {
    return lostResult(mayBeReleasedByUs ? candidate : certain, lost.holder, renewalError);
  }
  // A lock that was to be renewed until the end of the job was lost, even if the path is free now.
  const isUnrenewed = renewalError !== undefined && mayHaveExpired(grant.lock, now);
  const isLost = loss !== undefined || (lost !== undefined && !mayBeReleasedByUs && isUnrenewed);
  return isLost ? lostResult(certain, 'nobody', renewalError) : { kind: 'already-ended', grant };
}

/** The results without a connection to the service. */
export const unreleased = (
  { held, unanswered, leases }: ReleaseCandidates,
  reason: string,
): readonly CandidateResult[] => {
  const leased = new Set(held.map(({ grant }) => grant.lock.lease));
  const empty = leases.filter(({ lease }) => !leased.has(lease)).map(requestOf);
  return [
    ...held.map((candidate) => failedResult(candidate, reason)),
    ...[...unanswered, ...empty].map((intent): CandidateResult => ({ kind: 'unanswered', intent, reason })),
  ];
};

/** A lock that is already known to be lost needs no further request. */
const failedResult = (candidate: ReleaseCandidate, reason: string, request?: string): CandidateResult =>
  candidate.loss === undefined
    ? { kind: 'failed', grant: candidate.grant, reason, request }
    : lostResult(candidate, undefined, undefined);

/** The lock is lost, unless this job may have released it. */
function lostResult(
  { grant, releaseStatus, loss, grantedAgain }: ReleaseCandidate,
  holder: KnownLock | 'nobody' | undefined,
  renewalError: string | undefined,
): CandidateResult {
  // A lock whose renewal was refused was lost before anyone could have released it.
  switch (loss === undefined ? releaseStatus : undefined) {
    case undefined:
      return { kind: 'lost', grant, holder, loss, renewalError, grantedAgain };
    case 'release-started':
      return { kind: 'already-ended', grant };
    case 'records-damaged':
      return holder === 'nobody' ? { kind: 'already-ended', grant } : { kind: 'taken-over', grant, holder };
  }
}

/** The response that granted it was lost, or the ledger is. */
const releasedResult = (
  { service, workspace, step, lease, type, at }: LeaseIntent,
  path: LockPath,
): CandidateResult => {
  const lock = { path, type, expires_at: at, lease };
  return {
    kind: 'released',
    grant: { kind: 'granted', service, workspace, step, path, key: lease, waitedMs: 0, lock, at },
  };
};

const intentOf = ({ service, workspace, step, path, at, lock }: Grant, lease: string): LeaseIntent => {
  return { kind: 'lease', service, workspace, step, lease, path, type: lock.type, ttl: '1s', at };
};

/** For the report: the first of its paths stands for all. */
const requestOf = ({ service, workspace, step, path, type, ttl, at, lease }: LeaseIntent): Intent => {
  return { kind: 'intent', service, workspace, step, path, type, ttl, at, key: lease, byService: false };
};

const elsewhereText = (service: string, current: string): string =>
  `It is on ${service}, and \`base-url\` (or WORKSPACE_BASE_URL) now points to ${current}.`;
