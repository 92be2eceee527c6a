import type { CallLimits } from '../../client/request.ts';
import { knowsNoRoute, ServiceError } from '../../client/service-error.ts';
import { backoff, sleep, steadyClock } from '../../client/time.ts';
import { pluralize } from '../../interface/format.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import { endLease, endsInLease } from '../../locks/end-lease.ts';
import type { Entry, Grant, Intent, LeaseIntent } from '../../locks/ledger/entry.ts';
import { historyOf, type JobLock } from '../../locks/ledger/history.ts';
import { createRecorder, type Ledger, ledgerFile, marksIn, openLedger, parseLines } from '../../locks/ledger/ledger.ts';
import { cancelledText } from '../../locks/messages.ts';
import { createIntents } from '../../locks/path-by-path.ts';
import { cleanupLimits, createRelease, type LockContext } from '../../locks/release.ts';
import { readInputs } from '../inputs/read.ts';
import type { RawInputs } from '../inputs/table.ts';
import { type ConnectionInputs, readConnection } from '../inputs/task.ts';
import { endMain, stopRenewal } from '../renewal/processes.ts';
import { errorText } from '../report/outcome.ts';
import { releaseResult } from '../report/release-result.ts';
import type { Reporter } from '../report/reporter.ts';
import { joinSome, type PathResult, resultsOutcome } from '../report/results.ts';
import { connect, type StateName } from '../step/context.ts';
import { cancellation, readRunner } from '../step/runner.ts';
import { chartOf } from './chart.ts';
import { notReleasedResult, unansweredResult } from './results.ts';

/**
 * Releases the remaining locks of a step according to the ledger, and reports on all of its locks. Does not read the
 * task from the inputs: the runner evaluates their expressions again, and the values may have changed. `state` returns
 * the saved state of the step; empty if there is none.
 */
export async function releaseStep(
  step: string,
  state: (name: StateName) => string,
  raw: RawInputs,
  reporter: Reporter,
): Promise<void> {
  const { log, redact } = reporter;
  const cancelled = cancellation().signal;
  const { temporaryFolder, origin } = readRunner(process.env);
  const ledger = openLedger(ledgerFile(temporaryFolder));
  const ending = { ledger, clock: steadyClock, sleep };
  await endMain(ending, state('main'));
  // Renewal stops before any release, so that no lock is renewed after its release.
  await stopRenewal(ending, step, state('renewer'), cancelled);
  const saved = parseLines(state('locks'));
  const candidates = readCandidates(ledger, step, saved, state('requested') !== '');

  if (saved.some((entry) => entry.kind === 'acquired' && entry.outlivesJob)) {
    log.line('The locks of this step outlive the job: `auto-release` is false.');
    return;
  }
  if (candidates.ledgerError !== undefined) log.warn(candidates.ledgerError);
  for (const entry of candidates.entries)
    if (entry.kind === 'left-alone' && entry.step === step) log.warn(entry.reason);
  const nothing = candidates.held.length + candidates.unanswered.length === 0 && candidates.lease === undefined;
  if (nothing && saved.length === 0) {
    if (candidates.ledgerError === undefined) log.line(nothingLeft);
    return;
  }

  // Recorded for the post-steps of earlier steps of the job, which may know the same locks.
  const record = createRecorder(ledger, { warn: log.debug });
  const read = readConnection(raw, process.env);
  const connection = read.ok ? read.value : undefined;
  const client =
    connection &&
    connect(withShortAttempts(connection), origin, reporter, {
      marks: marksIn(ledger, record, connection.baseUrl),
    });
  const now = (): number => client?.serverNow() ?? Date.now();
  const within = { ...cleanupLimits(steadyClock, timeLimitMs, cancelled), isLastChance: true };
  const settle = client && createSettling({ client, record }, connection.baseUrl, candidates, within);
  const results = await settleAll(candidates, async (one) => {
    try {
      if (settle === undefined) throw new Error(read.problems?.join(' '));
      return await settle(one);
    } catch (error) {
      // A bug that affects one lock must not prevent the release of the others.
      return unsettledResults(one, errorText(error), now());
    }
  });
  const released = results.filter(({ result }) => result === 'released').length;
  const begin = `Released ${pluralize(released, 'lock')} at the end of the job`;
  const outcome = resultsOutcome(results, 'released', begin, now());
  const cancellations = candidates.entries.filter((entry) => entry.kind === 'run-cancelled');
  // Nothing relied on the locks of a step that was killed before it had outputs.
  const onLost = saved.length === 0 ? 'warn' : state('on-lost');
  await reporter.finish(
    'Workspace: locks at the end of the job',
    {
      ...outcome,
      ...lossesOf(outcome, onLost, cancelledText(cancellations.find((entry) => entry.step === step))),
      ...(results.length === 0 && { sentence: nothingLeft }),
      chart: chartOf(candidates.granted, results, now(), redact),
    },
    // The step itself has already rejected an invalid `summary`. Here, it counts as the default.
    readInputs(raw, ['summary'], process.env).values?.summary !== false,
  );
}

const nothingLeft = 'Nothing was left to release at the end of the job.';

/** Lost locks fail the job, or become a single warning. `onLost` was saved with the id of the step. */
function lossesOf({ failures, warnings }: ReturnType<typeof resultsOutcome>, onLost: string, cancelled: string) {
  if (failures.length === 0) return {};
  if (onLost === 'warn') return { failures: [], warnings: [joinSome(failures), ...warnings] };
  return onLost === 'cancel' ? { failures: [...failures, cancelled] } : {};
}

type ReleaseCandidates = ReturnType<typeof readCandidates>;

/**
 * Reads the locks of a step from the ledger, and from the entries that the runner kept when the step had all of them.
 * If part of the ledger is missing, later releases may be, too, so the locks are released only with proof of ownership.
 */
export function readCandidates(
  { file, read }: Pick<Ledger, 'file' | 'read'>,
  step: string,
  saved: readonly Entry[],
  hasRequested: boolean,
) {
  const { entries, problem } = read();
  const history = historyOf([...saved, ...entries]);
  const kinds = new Set(entries.flatMap((entry) => ('step' in entry && entry.step === step ? entry.kind : [])));
  const isComplete =
    (!hasRequested || (kinds.has('step-started') && (kinds.has('intent') || kinds.has('lease')))) &&
    (kinds.has('acquired') || saved.length === 0);
  const error = problem ?? (isComplete ? undefined : `The ledger in ${file} lacks entries that this step wrote.`);
  const isDamaged = error !== undefined;
  const leased = [...saved, ...entries]
    .filter((entry) => entry.kind === 'granted')
    .find(({ lock }) => lock.lease === step);
  return {
    entries,
    granted: [...history.granted()].filter(({ grant }) => grant.step === step),
    held: history.held
      .filter(({ grant }) => grant.step === step)
      .map((lock) => ({
        ...lock,
        mayBeReleased: lock.mayBeReleased || isDamaged,
        renewalError: isDamaged ? undefined : lock.renewalError,
      })),
    unanswered: history.unanswered.filter((intent) => intent.step === step),
    /** The lease of the step, if it may hold locks. Its own entry may be missing. */
    lease: history.leases.find((each) => each.step === step) ?? (isDamaged && leased ? leaseOf(leased) : undefined),
    ledgerError: isDamaged ? `${error} Locks that it does not list stay until their ttl expires.` : undefined,
  };
}

const leaseOf = ({ service, workspace, path, step, at, lock: { type } }: Grant): LeaseIntent => {
  return { kind: 'lease', service, workspace, path, step, lease: step, type, ttl: '1s', at };
};

/** The post-step must end within 60 s. The rest is for starting and reporting on a slow machine. */
const timeLimitMs = 45_000;

/** Short, to fit in many attempts, because the network may come back. */
const maxRequestTimeout = { seconds: 10 };

const withShortAttempts = (connection: ConnectionInputs): ConnectionInputs => ({
  ...connection,
  retries: Number.POSITIVE_INFINITY,
  requestTimeout: { seconds: Math.min(connection.requestTimeout.seconds, maxRequestTimeout.seconds) },
});

/**
 * Releases what is provably ours. Different paths do not wait for each other. An unanswered request waits for releases
 * of the same path, or it would only find our own lock there.
 */
async function settleAll(
  candidates: ReleaseCandidates,
  settle: (one: Unsettled) => Promise<readonly PathResult[]>,
): Promise<readonly PathResult[]> {
  const byPath = Map.groupBy(unsettledIn(candidates), ({ about }) => about.path);
  const results = await Promise.all(
    Array.from(byPath.values(), async (onPath) => {
      const settled: PathResult[] = [];
      for (const one of onPath) settled.push(...(await settle(one)));
      return settled;
    }),
  );
  return results.flat();
}

/** Something to settle at the end of the step: a lock, a lease with its known locks, or an unanswered request. */
interface Unsettled {
  readonly about: Grant | LeaseIntent | Intent;
  readonly held: readonly JobLock[];
}

/** The locks of a lease are released with it. */
function unsettledIn({ held, unanswered, lease }: ReleaseCandidates): readonly Unsettled[] {
  const { leased = [], single = [] } = Object.groupBy(held, ({ grant }) => (grant.lock.lease ? 'leased' : 'single'));
  return [
    ...(lease ? [{ about: lease, held: leased }] : []),
    // Newest first: while a newer lock is held, an older one on the same path would only find that.
    ...single.toReversed().map((lock) => ({ about: lock.grant, held: [lock] })),
    ...unanswered.map((intent) => ({ about: intent, held: [] })),
  ];
}

/** For a lease without a known lock, its first path stands for all. */
const unsettledResults = ({ about, held }: Unsettled, reason: string, now: number): readonly PathResult[] =>
  held.length === 0 && about.kind !== 'granted'
    ? [unansweredResult(about, reason)]
    : held.map((lock) => notReleasedResult(lock, reason, false, now));

/** Returns a function that settles one item on the current service. It throws the reason why something remains. */
function createSettling(
  { client, record }: Pick<LockContext, 'client' | 'record'>,
  service: string,
  candidates: ReleaseCandidates,
  within: CallLimits,
) {
  const context = { client, record, clock: steadyClock, sleep, random: Math.random };
  const intents = createIntents(context);
  const releaseTarget = createRelease(context, within);
  const doubt =
    candidates.ledgerError &&
    'The ledger is damaged or gone, so it is unknown whether this job had released its own lock.';

  async function release(lock: JobLock, reported = lock): Promise<PathResult> {
    const { grant, mayBeReleased, grantedAgain = false, loss } = lock;
    const end = await releaseTarget({ ...grant, grant, loss, mayBeReleased: mayBeReleased || grantedAgain });
    const now = client.serverNow();
    if (end.kind === 'failed') return notReleasedResult(reported, end.error.message, end.mayBeDone, now);
    return releaseResult(reported, end, doubt, now);
  }

  /** Repeats the request of an intent until it is answered, and then releases its lock. */
  async function settleIntent(intent: Intent): Promise<readonly PathResult[]> {
    const acquired = await intents.request(intent, within);
    if (acquired.kind === 'held' && !acquired.mayBeDone) return [];
    if (acquired.kind !== 'acquired') throw acquired.error;
    const { grant } = acquired;
    // If the ledger is damaged, the service may repeat its response about a lock that was released long ago.
    const mayBeReleased = candidates.ledgerError !== undefined;
    // The job never learned of this lock, so nothing relied on it.
    return [await release({ grant, mayBeReleased }, { grant, mayBeReleased: true })];
  }

  /** Ends the lease with one request, even if the response that granted it was lost. */
  async function endLeaseInTime(lease: LeaseIntent, isHeld: boolean) {
    for (let failures = 1; ; failures += 1) {
      const end = await endLease({ client, record }, lease, within);
      // Only the list shows whether a gateway answered in place of a service with leases.
      const isUnsupported = end.kind === 'failed' && knowsNoRoute(end.error);
      if (isUnsupported && !isHeld && (await isUnknown(lease))) {
        return { kind: 'ended', released: [], lost: [] } as const;
      }
      const pauseMs = backoff(failures, undefined, Math.random);
      const isOver = within.signal?.aborted === true || steadyClock() + pauseMs >= within.deadline;
      if (!isUnsupported || isOver) return end;
      await sleep(pauseMs, within.signal);
    }
  }

  /** Whether a complete list shows none of its locks, which may be on any of its paths. */
  async function isUnknown({ workspace, lease }: LeaseIntent): Promise<boolean> {
    try {
      const { items, incomplete } = await client.listLocks({ workspace, once: true }, within);
      return incomplete === undefined && !items.some(({ raw }) => raw['lease'] === lease);
    } catch (error) {
      if (error instanceof ServiceError) return false;
      throw error;
    }
  }

  /** The service, not the ledger, decides what happened to the locks of the lease. */
  async function settleLease(lease: LeaseIntent, held: readonly JobLock[]): Promise<readonly PathResult[]> {
    const end = await endLeaseInTime(lease, held.length > 0);
    if (end.kind !== 'ended') throw end.error;
    const endOf = endsInLease(end);
    // These are held, or an earlier step has reported their end.
    const known = new Set(candidates.granted.map(({ grant }) => grant.path));
    // Without a damaged ledger, the grant was never received, so the job did not rely on these locks.
    const reliedOn = candidates.ledgerError === undefined ? [] : end.lost.map(({ path }) => path);
    const others = [...end.released, ...reliedOn].filter((path) => !known.has(path));
    return [...held, ...others.map((path) => unknownLock(lease, path))].map((each) => {
      const { lock, end } = endOf(each);
      return releaseResult(lock, end, doubt, client.serverNow());
    });
  }

  return async ({ about, held }: Unsettled): Promise<readonly PathResult[]> => {
    // The token must not be sent to another service.
    if (about.service !== service) {
      throw new Error(`It is on ${about.service}, and \`base-url\` (or WORKSPACE_BASE_URL) now points to ${service}.`);
    }
    if (about.kind === 'intent') return settleIntent(about);
    if (about.kind === 'lease') return settleLease(about, held);
    return Promise.all(held.map((lock) => release(lock)));
  };
}

const unknownLock = ({ service, workspace, step, lease, type, at }: LeaseIntent, path: LockPath): JobLock => {
  const lock = { path, type, expires_at: '', lease };
  const grant = { kind: 'granted', service, workspace, step, path, key: lease, waitedMs: 0, lock, at } as const;
  return { grant, mayBeReleased: true };
};
