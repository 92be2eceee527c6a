import { createCommandSession } from '../../src/cli/session.ts';
import type { Client } from '../../src/client/client.ts';
import type { KnownLock } from '../../src/client/known-lock.ts';
import type { AcquireLockResult, Conflict } from '../../src/client/post-lock.ts';
import type { QueueWait } from '../../src/client/queue.ts';
import type { ReleaseLockResult } from '../../src/client/release-lock.ts';
import type { CallLimits } from '../../src/client/request.ts';
import { type Failure, isTransientStatus, ServiceError, unanswered } from '../../src/client/service-error.ts';
import type { Ttl } from '../../src/interface/duration.ts';
import type { LockPath } from '../../src/interface/lock-path.ts';
import { type Acquisition, acquireLocks } from '../../src/locks/acquire.ts';
import type { Entry, Grant, GrantedLock, Intent } from '../../src/locks/ledger/entry.ts';
import type { IntentResult, LockTerms } from '../../src/locks/path-by-path.ts';
import { game, lockPath, ttl } from '../client/test-client.ts';

/** The service and workspace of the locks in these tests, and the start and end of their lifetime. */
export const place = { service: 'https://workspaces.example.com/v1', workspace: game };
export const addressOf = (path: string) => ({ ...place, path: lockPath(path) });
export const at = '2026-03-01T12:00:00.000Z';
export const end = '2026-03-01T13:00:00.000Z';
export const start = Date.parse(at);
export const iso = (msAfterStart: number): string => new Date(start + msAfterStart).toISOString();

export const asItIs = (text: string): string => text;

export const lockOf = (path: string, more: Partial<GrantedLock> = {}): GrantedLock => ({
  path: lockPath(path),
  type: 'exclusive',
  expires_at: end,
  ...more,
});

/** What step `s` acquires. */
export const terms: LockTerms = { ...place, step: 's', type: 'exclusive', ttl: ttl('1h') };

/** A service without leases. */
export const onlyInterface: Pick<Client, 'putLease' | 'isOurs'> = {
  putLease: async () => ({ kind: 'failed', error: errorOf(refused(404, { isOwnProblem: false })), mayBeDone: false }),
  isOurs: () => false,
};

/** Intent of step `s` for a path, with the path as its key. */
export const intentOf = (path: string, more: Partial<Intent> = {}): Intent => ({
  kind: 'intent',
  ...addressOf(path),
  step: 's',
  at,
  key: path,
  type: 'exclusive',
  ttl: '1h',
  notSentBefore: 0,
  ...more,
});

interface RequestResults {
  readonly acquire: (path: LockPath) => Promise<IntentResult>;
  readonly settle: (path: LockPath) => Promise<IntentResult>;
  readonly waitInLine?: (request: WaitingRequest) => Promise<IntentResult>;
  readonly release: (path: LockPath, within: CallLimits) => Promise<ReleaseLockResult>;
}

/** A request that waits in line, and its limits. */
export interface WaitingRequest extends QueueWait, CallLimits {
  readonly path: LockPath;
  readonly key: string;
}

/**
 * A service without leases that answers requests that wait with `waitInLine`, other first requests for a lock with
 * `acquire`, and their repetitions with `settle`. All its locks have ETags.
 */
export const serviceOf = ({ acquire, settle, waitInLine, release }: RequestResults) => ({
  ...onlyInterface,
  async acquireLock(
    { path, wait: line, idempotencyKey: key, firstSentAt }: Parameters<Client['acquireLock']>[0],
    within: CallLimits,
  ): Promise<AcquireLockResult> {
    const result = await (line !== undefined && line.seconds > 0 && waitInLine !== undefined
      ? waitInLine({ path, key, ...line, ...within })
      : (firstSentAt === undefined ? acquire : settle)(path));
    if (result.kind !== 'acquired') return result;
    return { kind: 'acquired', lock: { ...knownLock(path), etag: `"lock_${path}"`, ...result.grant.lock } };
  },
  releaseLock: ({ path }: Parameters<Client['releaseLock']>[0], within: CallLimits) => release(path, within),
});

/** A request that was granted until then. */
export const grantedTo = (path: LockPath, expires_at = end): IntentResult => {
  const grant = grantOf(path, { lock: lockOf(path, { id: `lock_${path}`, expires_at }) });
  return {
    kind: 'acquired',
    grant,
    lock: { ...knownLock(path), ...grant.lock, path },
    grantedAt: Number.POSITIVE_INFINITY,
  };
};

interface Acquiring {
  readonly clock: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly record: (...entries: readonly Entry[]) => void;
  readonly random?: () => number;
  readonly line?: (text: string) => void;
  readonly signal?: AbortSignal;
  readonly step?: string;
}

/** Acquires locks with these methods of a client, and waits for this number of seconds. */
export const acquiring = (
  client: Partial<Client>,
  { random = () => 0.5, line = () => undefined, signal = new AbortController().signal, step = 's', ...time }: Acquiring,
  goal: Parameters<typeof acquireLocks>[1],
  waitSeconds: number,
): Promise<Acquisition> =>
  acquireLocks(
    {
      // It uses no other methods.
      ...{ client: client as Client, ...time, random, signal, log: { line }, terms: { ...terms, step } },
      withoutWait: { deadline: time.clock() + 150_000, signal },
    },
    goal,
    { wait: { seconds: waitSeconds }, priority: 3 },
  );

/** A command with these methods of a client. Calls `report` with each line of its output. */
export const commandSession = (
  client: Partial<Client>,
  its: Ttl = terms.ttl,
  report: (line: string) => void = () => undefined,
) =>
  createCommandSession(
    {
      // It uses no other methods.
      ...{ ...place, client: client as Client, report, interrupted: new AbortController().signal },
      within: () => ({ deadline: Number.POSITIVE_INFINITY }),
    },
    its,
  );

/** The grant for the same step. */
export const grantOf = (path: string, more: Partial<Grant> = {}): Grant => ({
  kind: 'granted',
  ...addressOf(path),
  step: 's',
  at,
  key: path,
  waitedMs: 0,
  lock: lockOf(path, { id: `lock_${path}` }),
  ...more,
});

/** A lock in a list of the service. */
export const knownLock = (path: string, more: Partial<KnownLock> = {}): KnownLock => ({
  path,
  type: 'exclusive',
  id: undefined,
  etag: undefined,
  owner: 'grace',
  origin: undefined,
  note: undefined,
  acquired_at: undefined,
  expires_at: end,
  fence: undefined,
  raw: {},
  ...more,
});

export const refused = (status: number, more: Partial<Failure> = {}): Failure => ({
  kind: 'refused',
  reason: 'The service refused the request.',
  isTransient: isTransientStatus(status),
  status,
  isOwnProblem: true,
  ...more,
});

export const timedOut = unanswered('timeout', 'The service', 'within 1 s');

export const errorOf = (failure: Failure): ServiceError =>
  new ServiceError({ method: 'POST', path: '/v1/workspaces/game/locks', attempts: 1 }, failure);

/** A path that somebody else has locked for this many more minutes. */
export const conflictOf = (path: string, minutes: number): Conflict => ({
  path: lockPath(path),
  holder: knownLock(path, { owner: `owner of ${path}`, expires_at: iso(minutes * 60_000) }),
  ...{ hasWaited: false, queue: undefined },
  error: errorOf(refused(409)),
});
