import { errorMessage, formatTime } from '../../interface/format.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import { unlessAborted } from '../../interface/timers.ts';
import { type Grant, soonestExpiry } from '../../locks/ledger/entry.ts';
import { renewFirst } from '../../locks/renewal/first-renewal.ts';
import type { TaskOf } from '../inputs/task.ts';
import type { Context } from '../step/context.ts';
import { findRun, type RunToCancel } from '../step/github.ts';
import { identifyProcess } from './processes.ts';
import { proxyVariables, type Renewer, variablesLike } from './renewer.ts';

/** Enough for Node to start on a busy machine. */
const maxResponseMs = 10_000;

/**
 * Prepares the renewal of the step's locks by the process that was started. Throws an InputError if a lost lock should
 * cancel the run, but the run is unknown.
 */
export function createRenewal(context: Context, task: TaskOf<'lock'>, renewer: Renewer) {
  const { client, clock, connection, log, runner, saveState, signal } = context;
  const isCancelling = task['on-lost'] === 'cancel';
  const cancels = isCancelling ? findRun(runner.event, task['github-token'], connection.allowHttp) : undefined;

  /** Returns why nothing renews the locks; undefined if the process does. */
  async function handOver(renewalTask: RenewalTask): Promise<string | undefined> {
    const { child, response } = await renewer;
    // Saved before the process starts to renew, so that the post-step finds it even if this step is killed.
    saveState('renewer', JSON.stringify(identifyProcess(child.pid ?? 0)));
    // Ignored: a process that has ended does not respond either, and the reason for its end says more.
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${JSON.stringify(renewalTask)}\n`);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(maxResponseMs)]);
    const failure = await unlessAborted(response, limit).catch(() =>
      signal.aborted ? 'the step was cancelled' : `it did not answer within ${maxResponseMs / 1_000} s`,
    );
    // From here on, the process continues on its own, even after the step.
    child.stdout.destroy();
    child.unref();
    return failure;
  }

  /** Starts the renewal, or warns that nothing renews the locks. Returns the grants after their first renewal. */
  return async (step: string, granted: readonly Grant[], ageMs: number): Promise<readonly Grant[]> => {
    const startedAt = clock();
    const { grants, refusal, failure, unanswered } = await renewFirst({ ...context, ...task }, granted);
    const end = formatTime(soonestExpiry(grants.map(({ lock }) => lock)), client.serverNow());
    const until = `They last until ${end}; choose a longer \`ttl\` if the job takes longer.`;
    if (refusal !== undefined) {
      log.warn(`This service cannot renew locks. ${refusal} ${until}`);
      return grants;
    }
    const known = { step, ageMs: ageMs + clock() - startedAt, cancels, unanswered };
    const problem = await handOver(renewalTaskOf(context, task, grants, known)).catch(errorMessage);
    if (problem !== undefined) log.warn(`Could not start the process that renews the locks (${problem}). ${until}`);
    else if (failure === undefined) log.line('The locks are renewed until the job ends: `renew` is true.');
    else log.warn(`The first renewal of the locks failed, and is tried again until they expire: ${failure}`);
    return grants;
  };
}

/** The task of the renewing process. */
export type RenewalTask = ReturnType<typeof renewalTaskOf>;

/**
 * Sent through a pipe, because later steps can read the environment of a process. Includes the grants, because the
 * ledger may be gone first. `ageMs` is the time since they were granted, `cancels` the run to cancel if one is lost.
 */
function renewalTaskOf(
  { connection, ledger, runner }: Context,
  { workspace, ttl }: TaskOf<'lock'>,
  grants: readonly Grant[],
  known: {
    readonly step: string;
    readonly ageMs: number;
    readonly cancels: RunToCancel | undefined;
    readonly unanswered: LockPath | undefined;
  },
) {
  const leased = grants.filter(({ lock }) => lock.lease !== undefined);
  return {
    ...known,
    /** The first lock of a lease stands for all of its locks, which differ in only a few members. */
    grants: grants.filter((grant) => grant.lock.lease === undefined || grant === leased[0]),
    leased: leased.map(({ path, key, lock: { id, etag } }) => ({ path, key, id, etag })),
    connection,
    origin: runner.origin,
    ledgerFile: ledger.file,
    workspace,
    ttl,
    /** The worker process of the runner; undefined if unknown. */
    worker: identifyProcess(runner.worker),
    /** Their URLs may contain passwords, so they are not passed in the environment. */
    proxies: variablesLike(proxyVariables, process.env),
  };
}
