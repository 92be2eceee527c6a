import { conditionOf } from '../../client/known-lock.ts';
import { errorMessage, formatTime } from '../../interface/format.ts';
import { unlessAborted } from '../../interface/timers.ts';
import { type Grant, soonestExpiry } from '../../locks/ledger/entry.ts';
import type { TaskOf } from '../inputs/task.ts';
import type { Context } from '../step/context.ts';
import { findRun, type RunToCancel } from '../step/github.ts';
import { identifyProcess } from './processes.ts';
import { proxiesIn, type Renewer } from './renewer.ts';

/** Time for Node to start on a busy machine. */
const maxResponseMs = 10_000;

/**
 * Prepares the renewal of the step's locks by a process that has been started. Throws an InputError if a lost lock is to
 * cancel the run, and the run is unknown.
 */
export function createRenewal(context: Context, task: TaskOf<'lock'>, renewer: Renewer) {
  const { client, clock, connection, log, runner, saveState, signal } = context;
  const access = { token: task.githubToken, allowHttp: connection.allowHttp };
  const cancels = task.onLost === 'cancel' ? findRun(runner.event, access) : undefined;

  /** Returns why nothing renews the locks; undefined if the process does. */
  async function handOver(renewalTask: RenewalTask): Promise<string | undefined> {
    const { child, response } = await renewer;
    // Saved before the process starts to renew, so that the post-step finds it even if this step is killed.
    saveState('renewer', JSON.stringify(identifyProcess(child.pid ?? 0)));
    // A process that has ended does not respond either, and its end is more informative.
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${JSON.stringify(renewalTask)}\n`);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(maxResponseMs)]);
    const failure = await unlessAborted(response, limit).catch(() =>
      signal.aborted ? 'the step was cancelled' : `it did not answer within ${maxResponseMs / 1_000} s`,
    );
    // From now on it continues alone, even after the step.
    child.stdout.destroy();
    child.unref();
    return failure;
  }

  /** Starts the renewal, or warns that nothing renews the locks. Returns the grants after their first renewal. */
  return async (step: string, granted: readonly Grant[], ageMs: number): Promise<readonly Grant[]> => {
    const startedAt = clock();
    const { grants, refusal, failure } = await renewFirst(context, task, granted);
    const end = formatTime(soonestExpiry(grants.map(({ lock }) => lock)), client.serverNow());
    const until = `They last until ${end}; choose a longer \`ttl\` if the job takes longer.`;
    if (refusal !== undefined) {
      log.warn(`This service cannot renew locks. ${refusal} ${until}`);
      return grants;
    }
    const known = { step, ageMs: ageMs + clock() - startedAt, cancels };
    const problem = await handOver(renewalTaskOf(context, task, grants, known)).catch(errorMessage);
    if (problem !== undefined) log.warn(`Could not start the process that renews the locks (${problem}). ${until}`);
    else if (failure === undefined) log.line('The locks are renewed until the job ends: `renew` is true.');
    else log.warn(`The first renewal of the locks failed, and is tried again until they expire: ${failure}`);
    return grants;
  };
}

/** The service may take a while, but the locks are held and the job waits. */
const maxFirstRenewalMs = 10_000;

/**
 * Renews one lock: this shows, while the step can still warn, whether the service supports renewal. Ours does. `refusal`
 * says why it does not, and `failure` why that is still unknown.
 */
async function renewFirst(
  { client, clock, signal, record }: Context,
  { workspace, ttl }: TaskOf<'lock'>,
  grants: readonly Grant[],
) {
  const [first, ...others] = grants;
  if (first === undefined || client.isOurs()) return { grants };
  const { path, lock } = first;
  if (conditionOf(lock) === undefined) return { grants, refusal: 'Its locks have neither ids nor ETags.' };
  const request = { workspace, path, type: lock.type, ttl, idempotencyKey: `${first.key}/renewal`, proof: lock };
  const renewal = await client.renewLock(request, { deadline: clock() + maxFirstRenewalMs, signal });
  if (renewal.kind === 'failed') return { grants, failure: renewal.error.message };
  if (renewal.kind === 'renewed' || renewal.kind === 'replaced') {
    const { id, etag, fence = lock.fence, expires_at } = renewal.lock;
    const now = { ...first, lock: { ...lock, id, etag, fence, expires_at } };
    record({ ...now, at: new Date(client.serverNow()).toISOString() });
    const refusal = renewal.kind === 'replaced' ? { refusal: 'It grants another lock instead.' } : {};
    return { grants: [now, ...others], ...refusal };
  }
  // A service that answers 412 to a lost lock supports renewal. The process records the loss.
  const isSupported = renewal.kind === 'lost' && renewal.error.status === 412;
  return isSupported ? { grants } : { grants, refusal: renewal.error.message };
}

/** The task of the renewing process. */
export type RenewalTask = ReturnType<typeof renewalTaskOf>;

/**
 * Sent through a pipe, because later steps can read the environment of a process. The ledger may be gone while the locks
 * are still held. `ageMs` is the time since they were granted, and `cancels` the run to cancel if one is lost.
 */
function renewalTaskOf(
  { connection, ledger, runner }: Context,
  { workspace, ttl }: TaskOf<'lock'>,
  grants: readonly Grant[],
  known: { readonly step: string; readonly ageMs: number; readonly cancels: RunToCancel | undefined },
) {
  const leased = grants.filter(({ lock }) => lock.lease !== undefined);
  return {
    ...known,
    /** The first lock of a lease stands for all of them, which differ in a few members. */
    grants: grants.filter((grant) => grant.lock.lease === undefined || grant === leased[0]),
    leased: leased.map(({ path, key, lock: { id, etag } }) => ({ path, key, id, etag })),
    connection,
    origin: runner.origin,
    ledgerFile: ledger.file,
    workspace,
    ttl,
    /** The worker process of the runner; undefined if unknown. */
    worker: identifyProcess(runner.worker),
    /** Their URLs may contain passwords. */
    proxies: proxiesIn(process.env),
  };
}
