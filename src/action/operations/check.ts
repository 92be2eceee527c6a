import { type LookupResult, listOnPaths, lookupIn } from '../../client/lookup.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import { type Context, defaultLimits } from '../context.ts';
import type { TaskOf } from '../inputs/load.ts';
import type { Loss } from '../ledger/entry.ts';
import { readJobLocks } from '../ledger/history.ts';
import { loadHandoff } from '../locks/handoff.ts';
import { compare, isOver } from '../locks/ownership.ts';
import { byPath, failed, type Outcome } from '../outcome.ts';
import { listed } from '../report/words.ts';
import { type CheckedLock, type CheckResult, checkReport } from './check-report.ts';

export interface LockToCheck {
  readonly path: LockPath;
  readonly lock: CheckedLock;
  /** The service has refused to renew it. */
  readonly loss?: Loss | undefined;
}

interface LocksToCheck {
  readonly locks: readonly LockToCheck[];
  /** Why there may be more. */
  readonly gap: string | undefined;
}

/** A lock whose release the job has begun is one that it does not rely on any more. */
function locksOfJob({ ledger, connection, log }: Context, workspace: string): LocksToCheck {
  const { held, otherWorkspaces, damaged } = readJobLocks(ledger, connection.baseUrl, workspace);
  if (otherWorkspaces.length > 0) {
    log.line(`The locks of this job in ${listed(otherWorkspaces)} are not checked: each workspace needs its own step.`);
  }
  const relied = [...held].filter(([, { releaseBegun }]) => !releaseBegun);
  return {
    locks: relied.map(([path, { grant, loss }]) => ({ path, lock: { ...grant.lock, grantedAt: grant.at }, loss })),
    gap: damaged
      ? `Part of the ledger in ${ledger.file} cannot be read, so this job may have locks that were not checked. Name them with \`locks\` or \`locks-file\`.`
      : undefined,
  };
}

function locksToCheck(context: Context, { selection, workspace }: TaskOf<'check'>): LocksToCheck {
  if (selection.kind === 'job') return locksOfJob(context, workspace);
  return { locks: loadHandoff(selection).map(({ path, ...lock }) => ({ path, lock })), gap: undefined };
}

/**
 * Whether the lock is still held, by the same proof as a release. Where nothing tells it from another, a lock within the
 * lifetime that it was granted counts as the one that is there, and one past it as lost.
 */
export function judge({ path, lock, loss }: LockToCheck, found: LookupResult, serverNow: number): CheckResult {
  const nobody: CheckResult = { path, kind: 'lost', lock, loss, holder: undefined };
  switch (found.kind) {
    case 'failed':
      return { path, kind: 'unknown', why: found.error.message };
    case 'unknown':
      return { path, kind: 'unknown', why: found.why };
    case 'absent':
      return nobody;
    case 'locked': {
      const there = found.lock;
      // Some services list a lock for a while after its end.
      if (Date.parse(there.expires_at ?? '') <= serverNow) return nobody;
      const expires_at = there.expires_at ?? lock.expires_at;
      switch (compare(lock, there)) {
        case 'ours': {
          const { type = lock.type, id = lock.id, etag = lock.etag, owner = lock.owner } = there;
          const { acquired_at = lock.acquired_at, fence = lock.fence } = there;
          return { path, kind: 'kept', lock: { type, id, etag, owner, acquired_at, fence, expires_at } };
        }
        case 'lost':
          return { path, kind: 'lost', lock, loss, holder: there };
        case 'unknown': {
          if (loss === undefined && !isOver(lock, serverNow))
            return { path, kind: 'kept', lock: { ...lock, expires_at } };
          const isEndKnown = loss !== undefined || !Number.isNaN(Date.parse(lock.expires_at ?? ''));
          if (isEndKnown) return { path, kind: 'lost', lock, loss, holder: there };
          const why =
            'Nothing shows that the lock there is the one you mean. Pass the output `locks` of a lock step unchanged.';
          return { path, kind: 'unknown', why };
        }
      }
    }
  }
}

/** Fails unless every lock is proven to be still held. It changes nothing, neither at the service nor in the ledger. */
export async function check(context: Context, task: TaskOf<'check'>): Promise<Outcome> {
  const { client, log, redact } = context;
  const { workspace, selection } = task;
  const { locks, gap } = locksToCheck(context, task);
  // An empty list is what somebody has meant to check; a job without locks that goes on to publish has forgotten them.
  if (locks.length === 0 && selection.kind === 'job') {
    const none = `This job holds no lock in ${workspace}, so there is nothing to check. Lock before this step, or name locks of another job with \`locks\` or \`locks-file\`.`;
    return failed(gap === undefined ? { count: '0', locks: '[]' } : {}, gap ?? none);
  }
  const paths = locks.map(({ path }) => path);
  const find = await lookupIn(listOnPaths(client, workspace, paths, defaultLimits(context)));
  const now = client.serverNow();
  const results = locks.map((lock) => judge(lock, find(lock.path), now)).sort(byPath);
  const { lines, ...outcome } = checkReport({ workspace, results, gap }, now, redact);
  log.group(outcome.sentence, lines);
  return outcome;
}
