import {
  inParallel,
  isTransient,
  type KnownLock,
  type ServiceError,
  sleep,
  steadyClock,
  type Within,
} from '../../client/client.ts';
import { type Context, cancellation, connect, readRunner, type StateName } from '../context.ts';
import { readConnection } from '../inputs/load.ts';
import { type LossReaction, parseBoolean, parseLossReaction } from '../inputs/parse.ts';
import { createReader } from '../inputs/reader.ts';
import type { RawInputs } from '../inputs/table.ts';
import { type Intent, parsedTtl } from '../ledger/entry.ts';
import { createRecorder, ledgerFile, locksFile, openLedger } from '../ledger/ledger.ts';
import { parseSavedState } from '../ledger/saved-state.ts';
import { isOver } from '../locks/ownership.ts';
import { cleanupLimits } from '../locks/release.ts';
import { type LockSession, openLockSession } from '../locks/session.ts';
import { stopRenewal } from '../renewal/processes.ts';
import type { Redact } from '../report/redact.ts';
import type { Log, Reporter } from '../report/reporter.ts';
import { type Claim, type ClaimResult, type Claims, readClaims } from './claims.ts';
import { chartOf, nothingLeft, releaseReport } from './report.ts';

const lostOr = (
  { grant, doubt, loss }: Claim,
  holder: KnownLock | 'nobody' | undefined,
  renewalTrouble: string | undefined,
): ClaimResult => {
  // What the service refused to renew was lost before anybody could have released it.
  switch (loss === undefined ? doubt : undefined) {
    case undefined:
      return { kind: 'lost', grant, holder, loss, renewalTrouble };
    case 'release-begun':
      return { kind: 'gone', grant };
    case 'records-damaged':
      return holder === 'nobody' ? { kind: 'gone', grant } : { kind: 'replaced', grant, holder };
  }
};

/** The service has said already that a lock is lost: nothing more has to be asked for that. */
const failedOr = (claim: Claim, why: string, request?: string): ClaimResult =>
  claim.loss === undefined ? { kind: 'failed', grant: claim.grant, why, request } : lostOr(claim, undefined, undefined);

/** The token that the step has now is for the service that it names now, and goes to no other. */
const elsewhere = (service: string, now: string): string =>
  `It is on ${service}, and \`base-url\` (or WORKSPACE_BASE_URL) names ${now} by now.`;

/** Without a connection to the service. */
const unreleased = ({ held, unclear }: Claims, why: string): readonly ClaimResult[] => [
  ...held.map((claim) => failedOr(claim, why)),
  ...unclear.map((intent): ClaimResult => ({ kind: 'unproven', intent, why })),
];

const firstPauseMs = 1_000;
const maxPauseMs = 8_000;

const never = new AbortController().signal;

/** The lock that would block others for longest comes first; one without a known end, last. */
const longestTtlFirst = <One>(all: readonly One[], endOf: (one: One) => number): readonly One[] =>
  all.toSorted((one, other) => (endOf(other) || 0) - (endOf(one) || 0));

const endOfClaim = ({ grant }: Claim): number => Date.parse(grant.lock.expires_at);
const endOfIntent = (intent: Intent): number => Date.parse(intent.at) + parsedTtl(intent).seconds * 1_000;

/** What came of one attempt, and the error where another attempt may come to something else. */
interface Attempt {
  readonly result: ClaimResult;
  readonly error?: ServiceError;
}

/** A claim or an intent, and the attempt before that says most. */
interface Pending {
  readonly attempt: () => Promise<Attempt>;
  readonly before?: Attempt;
}

/** Releases what can be shown to be ours, in parallel, and tries again for as long as there is time. */
export async function releaseClaims(
  {
    session,
    clock,
    sleep,
    random,
    serverNow,
  }: Pick<Context, 'clock' | 'sleep' | 'random'> & { readonly session: LockSession; readonly serverNow: () => number },
  service: string,
  { held, unclear, trouble, renewalTrouble }: Claims,
  within: Within,
): Promise<readonly ClaimResult[]> {
  const results: ClaimResult[] = [];
  /** An earlier attempt may have released it, and its answer been lost. */
  let releaseBegun: 'release-begun' | undefined;

  async function release(claim: Claim): Promise<Attempt> {
    const { grant, doubt = releaseBegun, loss } = claim;
    const lostTo = (holder: KnownLock | 'nobody' | undefined): Attempt => ({
      result: lostOr({ grant, doubt, loss }, holder, renewalTrouble),
    });
    if (grant.service !== service) {
      return { result: failedOr(claim, elsewhere(grant.service, service)) };
    }
    const released = await session.release(grant, within, doubt !== undefined);
    switch (released.kind) {
      case 'released':
        return { result: { kind: 'released', grant } };
      case 'absent': {
        // Renewed to the end of the job, it cannot have ended before: it was lost, though nobody has the path now.
        const failed = renewalTrouble !== undefined && isOver(grant.lock, serverNow());
        return loss !== undefined || failed ? lostTo('nobody') : { result: { kind: 'gone', grant } };
      }
      case 'lost':
        return lostTo(released.holder);
      case 'left-alone':
        return { result: { kind: 'left-alone', grant } };
      case 'unclear':
      case 'failed': {
        const { error } = released;
        return { result: failedOr({ grant, doubt, loss }, error.reason + error.advice, error.request), error };
      }
    }
  }

  async function settle(intent: Intent): Promise<Attempt> {
    if (intent.service !== service) {
      return { result: { kind: 'unproven', intent, why: elsewhere(intent.service, service) } };
    }
    const settlement = await session.settle(intent, within);
    switch (settlement.kind) {
      case 'acquired': {
        // With damaged records, the service may remember an answer about a lock that was released long ago.
        const doubt = trouble === undefined ? releaseBegun : 'records-damaged';
        const released = await release({ grant: settlement.grant, doubt });
        const neverGranted = released.result.kind === 'released' && settlement.isNew === true;
        return neverGranted ? { result: { kind: 'never-granted', intent } } : released;
      }
      case 'held':
        return { result: { kind: 'never-granted', intent } };
      case 'failed':
      case 'unclear':
        return { result: { kind: 'unproven', intent, why: settlement.error.message }, error: settlement.error };
    }
  }

  /** Returns what is worth another attempt, with its result in case there is none. */
  async function attemptAll(all: readonly Pending[]): Promise<readonly Required<Pending>[]> {
    const again: Required<Pending>[] = [];
    await inParallel(all, async ({ attempt, before }) => {
      const now = await attempt();
      if (now.error === undefined || !isTransient(now.error)) results.push(now.result);
      // The last attempt, cut off by the deadline, says less than those before it.
      else
        again.push({ attempt, before: (before?.error?.attempts ?? 0) > now.error.attempts && before ? before : now });
    });
    return again;
  }

  let claims: readonly Pending[] = longestTtlFirst(held, endOfClaim).map((one) => ({ attempt: () => release(one) }));
  let intents: readonly Pending[] = longestTtlFirst(unclear, endOfIntent).map((one) => ({
    attempt: () => settle(one),
  }));
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
    const failedClaims = await attemptAll(claims);
    const failedIntents = await attemptAll(intents);
    const failed = [...failedClaims, ...failedIntents];
    const pause = pauseMs * (0.5 + random() / 2);
    const isOver = within.signal?.aborted === true || clock() + pause >= within.deadline;
    if (failed.length === 0 || isOver) return [...results, ...failed.map(({ before }) => before.result)];
    claims = failedClaims;
    intents = failedIntents;
    releaseBegun = 'release-begun';
    await sleep(pause, within.signal ?? never);
  }
}

/** The post-step ends within 60 s; the rest is for starting and reporting on a slow machine. */
export const timeLimitMs = 45_000;

/** A network that is gone may come back: attempts are short, and there are as many as fit. */
export const maxRequestTimeout = { seconds: 10 };
export const retries = 1_000;

interface ReleaseResults {
  readonly results: readonly ClaimResult[];
  /** By the clock of the service. */
  readonly now: number;
}

/** While requests are tried again, one line about them is enough: the report at the end has all of them. */
function quiet(log: Log): Log {
  let said = false;
  return {
    ...log,
    line(text) {
      if (said) log.debug(text);
      else log.line(text);
      said = true;
    },
  };
}

/** What the step was given, else the input as it is now, else the safe choice: the step has refused a wrong one. */
function lossReaction(saved: string, input: string): LossReaction {
  const [first] = [saved, input].map(parseLossReaction).filter((parsed) => parsed.ok);
  return first?.value ?? 'fail';
}

interface StepToRelease {
  /** Names it in the ledger. */
  readonly step: string;
  /** What the step has saved; empty if it has not. */
  readonly state: (name: StateName) => string;
  readonly raw: RawInputs;
  readonly redact: Redact;
  readonly reporter: Reporter;
}

/**
 * Releases what a step has left, and reports what became of all its locks. The ledger has them. Of the inputs only the
 * connection counts: the runner evaluates their expressions anew, and the others may have changed.
 */
export async function releaseStep({ step, state, raw, redact, reporter }: StepToRelease): Promise<void> {
  const { log } = reporter;
  const cancelled = cancellation();
  const { temporaryFolder, origin } = readRunner(process.env);
  const ledger = openLedger(ledgerFile(temporaryFolder), redact);
  // Before any release: a renewal must not come after it.
  await stopRenewal({ ledger, clock: steadyClock, sleep }, step, state('renewer'), cancelled);
  const savedState = parseSavedState(state('locks'));
  const claims = readClaims({ ledger, step, locksFile: locksFile(temporaryFolder, step), savedState });

  async function report({ results, now }: ReleaseResults): Promise<void> {
    const without = new Set(results.flatMap((one) => (one.kind === 'never-granted' ? [one.intent.key] : [])));
    const chart = chartOf(ledger, { step, without, now, redact });
    // The step itself has refused a wrong `summary`; here it means the default.
    const summary = parseBoolean(raw.summary);
    const told = releaseReport(results, { chart, now, onLost: lossReaction(state('on-lost'), raw['on-lost']) });
    await reporter.finishRelease(told, !summary.ok || summary.value);
  }

  if (savedState?.outlivesJob) {
    log.line('The locks of this step outlive the job: `auto-release` is false.');
    return;
  }
  if (claims.trouble !== undefined) log.warn(claims.trouble);
  const nothing = claims.held.length === 0 && claims.unclear.length === 0;
  if (nothing && savedState === undefined) {
    if (claims.trouble === undefined) log.line(nothingLeft);
    return;
  }

  async function releaseAll(): Promise<ReleaseResults> {
    if (nothing) return { results: [], now: Date.now() };
    const reader = createReader(raw);
    const connection = readConnection(reader, process.env);
    if (connection === undefined) return { results: unreleased(claims, reader.problems.join(' ')), now: Date.now() };
    const { baseUrl, requestTimeout } = connection;
    const seconds = Math.min(requestTimeout.seconds, maxRequestTimeout.seconds);
    const { mask } = reporter;
    const client = connect({ ...connection, retries, requestTimeout: { seconds } }, origin, { log: quiet(log), mask });
    const within = cleanupLimits(steadyClock, timeLimitMs, cancelled);
    try {
      const time = { clock: steadyClock, sleep, random: Math.random };
      // Nobody comes after the post-step to read what it writes.
      const record = createRecorder(ledger, { warn: log.debug });
      const session = openLockSession({ ...time, client, record, step, origin, announce: () => undefined });
      const { serverNow } = client;
      const results = await releaseClaims({ ...time, session, serverNow }, baseUrl, claims, within);
      return { results, now: serverNow() };
    } finally {
      within.lift();
      client.dispose();
    }
  }

  await report(await releaseAll());
}
