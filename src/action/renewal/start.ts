import { conditionOf } from '../../client/known-lock.ts';
import { formatDuration } from '../../interface/duration.ts';
import { errorMessage, formatTime } from '../../interface/format.ts';
import { unlessAborted } from '../../interface/timers.ts';
import { type Grant, soonestExpiry } from '../../locks/ledger/entry.ts';
import type { TaskOf } from '../inputs/task.ts';
import type { Context } from '../step/context.ts';
import { findRun, type RunToCancel } from './cancel-run.ts';
import { identifyProcess } from './processes.ts';
import { proxiesIn, type Renewer, startRenewer } from './renewer.ts';

/** Time for Node to start on a busy machine. */
const maxResponseMs = 2_000;

/**
 * The renewal of the step's locks, by a process that may have been started before. Throws an InputError if a lost lock
 * is to cancel the run, and the run is unknown.
 */
export function createRenewal(context: Context, task: TaskOf<'lock'>, started?: Renewer) {
  const { client, clock, connection, log, runner, saveState } = context;
  const access = { token: task.githubToken, allowHttp: connection.allowHttp };
  const cancels = task.onLost === 'cancel' ? findRun(runner.event, access) : undefined;
  let renewer = started;
  let handedOver = false;

  /** Returns why nothing renews the locks; undefined if the process does. */
  async function handOver(given: StepToRenew): Promise<string | undefined> {
    try {
      renewer ??= startRenewer();
      const { child, response } = await renewer;
      handedOver = true;
      // Saved before the process starts to renew, so that the post-step finds it even if this step is killed.
      saveState('renewer', JSON.stringify(identifyProcess(child.pid ?? 0)));
      // A process that has ended does not respond either, and its end is more informative.
      child.stdin.on('error', () => undefined);
      child.stdin.end(JSON.stringify(createRenewalTask(context, task, cancels, given)));
      const failure = await unlessAborted(response, AbortSignal.timeout(maxResponseMs)).catch(
        () => `it did not answer within ${maxResponseMs / 1_000} s`,
      );
      // From now on it continues alone, even after the step.
      child.stdout.destroy();
      child.unref();
      return failure;
    } catch (error) {
      return errorMessage(error);
    }
  }

  return {
    /** Starts the renewal, or warns that nothing renews the locks. Returns the grants after their first renewal. */
    async start(step: string, grants: readonly Grant[], ageMs: number): Promise<readonly Grant[]> {
      const startedAt = clock();
      // If the step is killed after this, its post-step must stop the process.
      saveState('renewer', '{}');
      renewer ??= startRenewer();
      const { renewed, refusal, failure } = await renewFirst(context, task, grants);
      const end = formatTime(soonestExpiry(renewed.map(({ lock }) => lock)), client.serverNow());
      const until = `They last until ${end}; choose a longer \`ttl\` if the job takes longer.`;
      if (refusal !== undefined) {
        log.warn(`This service cannot renew locks. ${refusal} ${until}`);
        return renewed;
      }
      const problem = await handOver({ step, grants: renewed, ageMs: ageMs + clock() - startedAt });
      if (problem !== undefined) log.warn(`Could not start the process that renews the locks (${problem}). ${until}`);
      else if (failure === undefined) log.line('The locks are renewed until the job ends: `renew` is true.');
      else log.warn(`The first renewal of the locks failed, and is tried again until they expire: ${failure}`);
      return renewed;
    },
    /** Stops the prepared process if it was not needed. */
    end(): void {
      if (!handedOver) renewer?.then(({ child }) => child.kill()).catch(() => undefined);
    },
  };
}

/** The service may take a while, but the locks are held and the job waits. */
const maxFirstRenewalMs = 10_000;

interface FirstRenewal {
  /** All grants, the first with its new expiry. */
  readonly renewed: readonly Grant[];
  /** Why the service cannot renew locks. */
  readonly refusal?: string;
  /** Why it is still unknown whether it can. */
  readonly failure?: string;
}

/** Renews one lock: this shows, while the step can still warn, whether the service supports renewal. Ours does. */
async function renewFirst(
  { client, clock, signal, record }: Context,
  { workspace, ttl }: TaskOf<'lock'>,
  grants: readonly Grant[],
): Promise<FirstRenewal> {
  const [first, ...others] = grants;
  if (first === undefined || client.isOurs()) return { renewed: grants };
  const { path, lock } = first;
  if (conditionOf(lock) === undefined) return { renewed: grants, refusal: 'Its locks have neither ids nor ETags.' };
  const request = { workspace, path, type: lock.type, ttl, idempotencyKey: `${first.key}/renewal`, proof: lock };
  const renewal = await client.renewLock(request, { deadline: clock() + maxFirstRenewalMs, signal });
  switch (renewal.kind) {
    case 'renewed':
    case 'replaced': {
      const { id, etag, fence = lock.fence, expires_at } = renewal.lock;
      const now = { ...first, lock: { ...lock, id, etag, fence, expires_at } };
      record({ ...now, at: new Date(client.serverNow()).toISOString() });
      const renewed = [now, ...others];
      return renewal.kind === 'renewed' ? { renewed } : { renewed, refusal: 'It grants another lock instead.' };
    }
    case 'lost':
      // A service that answers 412 to a lost lock supports renewal. The process records the loss.
      if (renewal.error.status === 412) return { renewed: grants };
      return { renewed: grants, refusal: renewal.error.message };
    case 'refused':
      return { renewed: grants, refusal: renewal.error.message };
    case 'failed':
      return { renewed: grants, failure: renewal.error.message };
  }
}

/** The task of the renewing process. */
export type RenewalTask = ReturnType<typeof createRenewalTask>;

interface StepToRenew {
  readonly step: string;
  /** The ledger may be gone while the locks are still held. */
  readonly grants: readonly Grant[];
  /** Time since the locks were granted. */
  readonly ageMs: number;
}

/** Sent through a pipe, because later steps can read the environment of a process. */
const createRenewalTask = (
  { connection, ledger, runner }: Context,
  { workspace, ttl }: TaskOf<'lock'>,
  cancels: RunToCancel | undefined,
  given: StepToRenew,
) => ({
  ...given,
  connection,
  origin: runner.origin,
  ledgerFile: ledger.file,
  workspace,
  ttl: formatDuration(ttl),
  /** The run to cancel if a lock is lost. */
  cancels,
  /** The worker process of the runner; undefined if unknown. */
  worker: identifyProcess(runner.worker),
  /** Their URLs may contain passwords. */
  proxies: proxiesIn(process.env),
});
