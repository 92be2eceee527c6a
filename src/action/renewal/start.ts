import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { type CallLimits, type ServiceError, withRequest } from '../../client/client.ts';
import { formatDuration } from '../../interface/duration.ts';
import { errorMessage, formatTime } from '../../interface/format.ts';
import { unlessAborted } from '../../interface/timers.ts';
import { type Grant, type Loss, soonestExpiry } from '../../locks/ledger/entry.ts';
import { lostRenewalText } from '../../locks/messages.ts';
import { hasIdentity } from '../../locks/release.ts';
import { lossOf } from '../../locks/renewal/renew-locks.ts';
import type { TaskOf } from '../inputs/task.ts';
import type { Context } from '../step/context.ts';
import { isWorkerGone } from '../step/runner.ts';
import { randomUuid } from '../step/uuid.ts';
import { findRun, type RunToCancel } from './cancel-run.ts';
import { environmentOfRenewal, identifyProcess, proxiesIn } from './processes.ts';

type RenewalProcess = Awaited<ReturnType<typeof startProcess>>;

/** Time for Node to start on a busy machine. */
const maxResponseMs = 2_000;

/**
 * The renewal of the step's locks. Its process starts while the step requests them: Node takes longer to start than the
 * service to respond. Throws an InputError if a lost lock is to cancel the run, and the run is unknown.
 */
export function createRenewal(context: Context, task: TaskOf<'lock'>) {
  const { client, clock, connection, log, record, runner, saveState } = context;
  const { onLost } = task;
  const cancels =
    onLost.kind === 'cancel'
      ? findRun(runner.event, { token: onLost.githubToken, allowHttp: connection.allowHttp })
      : undefined;
  let renewer: Promise<RenewalProcess> | undefined;
  let handedOver = false;

  function startOnce(): Promise<RenewalProcess> {
    renewer ??= startProcess();
    // A failure is reported only if there are locks to renew.
    renewer.catch(() => undefined);
    return renewer;
  }

  return {
    /** A step that may wait for hours starts the process later: until then it would only use memory. */
    prepare(): void {
      if (task.wait.seconds === 0) startOnce();
    },
    /** Starts the renewal, or warns that nothing renews the locks. Returns the grants after their first renewal. */
    async start({ step, grants, ageMs }: StepToRenew): Promise<readonly Grant[]> {
      const startedAt = clock();
      // The new parent of an orphan may live for years, and nothing is left to release the locks.
      const isOrphan = (): boolean => isWorkerGone(runner.worker);
      if (isOrphan()) {
        log.warn(notStartedText(context, orphaned, grants));
        return grants;
      }
      // If the step is killed after this, its post-step must stop the process.
      saveState('renewer', '{}');
      startOnce();
      const { renewed, losses = [], reason, request } = await renewFirst(context, task, grants);
      if (reason !== undefined) {
        const text = `This service cannot renew locks: ${reason.replace(/\.$/, '')}. They ${expiryText(context, renewed)}`;
        log.warn(withRequest(text, request));
        return renewed;
      }
      record(...losses);
      for (const loss of losses) log.warn(lostRenewalText(loss, undefined, client.serverNow()));
      try {
        const prepared = await startOnce();
        handedOver = true;
        handOver(
          prepared,
          context,
          createRenewalTask(
            context,
            task,
            { step, grants: renewed, hasLost: losses.length > 0, ageMs: ageMs + clock() - startedAt },
            cancels,
          ),
        );
        const response = await firstResponse(prepared);
        // Otherwise the process only cancels the run.
        if (losses.length === grants.length) return renewed;
        if (response.kind === 'renewing') log.line('The locks are renewed until the job ends: `renew` is true.');
        else if (response.kind === 'silent') log.warn(silentText(context, renewed));
        else log.warn(notStartedText(context, isOrphan() ? orphaned : response.reason, renewed));
      } catch (error) {
        log.warn(notStartedText(context, errorMessage(error), renewed));
      }
      return renewed;
    },
    /** Stops the prepared process if it was not needed. */
    end(): void {
      if (!handedOver) renewer?.then(({ child }) => child.kill()).catch(() => undefined);
    },
  };
}

const orphaned = 'the process that runs the steps of the job is gone';

const notStartedText = (context: Context, reason: string, grants: readonly Grant[]): string =>
  `Could not start the process that renews the locks (${reason}). They ${expiryText(context, grants)}`;

const silentText = (context: Context, grants: readonly Grant[]): string =>
  `The process that renews the locks did not answer within ${maxResponseMs / 1_000} s. Unless it still starts, they ${expiryText(context, grants)}`;

function expiryText({ client }: Context, grants: readonly Grant[]): string {
  const end = soonestExpiry(grants.map(({ lock }) => lock));
  return `last until ${formatTime(end, client.serverNow())}; choose a longer \`ttl\` if the job takes longer.`;
}

/** The service may take a while, but the locks are held and the job waits. */
const maxFirstRenewalMs = 10_000;

interface FirstRenewal {
  /** All grants. The expiries of those that were renewed are new. */
  readonly renewed: readonly Grant[];
  /** The locks among them that are already lost. */
  readonly losses?: readonly Loss[];
  /** Why the service cannot renew locks. */
  readonly reason?: string;
  readonly request?: string | undefined;
}

/** Shows whether the service supports renewal, while the step can still warn about it. */
async function renewFirst(context: Context, task: TaskOf<'lock'>, grants: readonly Grant[]): Promise<FirstRenewal> {
  const { client, clock, signal } = context;
  const { workspace, ttl } = task;
  const limits = { deadline: clock() + maxFirstRenewalMs, signal };
  const [first, ...others] = grants;
  const { lease } = first?.lock ?? {};
  if (lease === undefined)
    return first === undefined ? { renewed: grants } : renewOne(context, task, [first, ...others], limits);
  const renewal = await client.renewLease({ workspace, lease }, ttl, limits);
  // A failed request does not show whether the service supports renewal.
  if (renewal.kind === 'failed') return { renewed: grants };
  if (renewal.kind === 'refused') return { renewed: grants, ...refusalOf(renewal.error) };
  const holders = new Map(renewal.lost.map(({ path, holder }) => [path, holder]));
  const isLost = ({ path }: Grant): boolean => renewal.kind === 'ended' || holders.has(path);
  const losses = grants.filter(isLost).map((grant) => lossOf(grant, holders.get(grant.path), client.serverNow()));
  if (renewal.kind === 'ended') return { renewed: grants, losses };
  const { expiresAt: expires_at } = renewal;
  const renewed = grants.map((grant) => (isLost(grant) ? grant : { ...grant, lock: { ...grant.lock, expires_at } }));
  return { renewed, losses };
}

/** Renews the first of the locks. */
async function renewOne(
  { client, record }: Context,
  { ttl }: TaskOf<'lock'>,
  grants: readonly [Grant, ...Grant[]],
  limits: CallLimits,
): Promise<FirstRenewal> {
  const [grant, ...others] = grants;
  const { path, workspace, lock } = grant;
  if (!hasIdentity(lock)) return { renewed: grants, reason: 'its locks have neither ids nor ETags' };
  const idempotencyKey = randomUuid();
  const renewal = await client.renewLock(
    { workspace, path, type: lock.type, ttl, idempotencyKey, proof: lock },
    limits,
  );
  switch (renewal.kind) {
    case 'renewed':
    case 'replaced': {
      const { id, etag, fence = lock.fence, expires_at } = renewal.lock;
      const now = { ...grant, lock: { ...lock, id, etag, fence, expires_at } };
      record({ ...now, at: new Date(client.serverNow()).toISOString() });
      const reason = renewal.kind === 'replaced' && { reason: 'it grants another lock instead' };
      return { renewed: [now, ...others], ...reason };
    }
    case 'failed':
      return { renewed: grants };
    case 'lost':
    case 'refused':
      // A service that answers 412 to a lost lock supports renewal.
      return renewal.kind === 'lost' && renewal.error.status === 412
        ? { renewed: grants, losses: [lossOf(grant, renewal.holder, client.serverNow())] }
        : { renewed: grants, ...refusalOf(renewal.error) };
  }
}

const refusalOf = ({ reason, request }: ServiceError) => ({ reason, request });

/** Little memory, and no optimizing compiler: the process works for moments, next to a job that may need the rest. */
const memoryOptions = ['--max-semi-space-size=1', '--max-old-space-size=256', '--lite-mode'];

/** Starts the process. It does nothing until it receives its task, and ends if it receives none. */
async function startProcess() {
  const child = spawnProcess();
  await once(child, 'spawn');
  return { child, response: responseOf(child) };
}

function spawnProcess() {
  // A separate bundle next to this one.
  const file = join(dirname(process.argv[1] ?? ''), 'renew', 'index.js');
  return spawn(process.execPath, [...memoryOptions, file], {
    // Windows cannot remove the working directory of a process, such as the checkout or the runner's temporary folder.
    cwd: dirname(file),
    env: environmentOfRenewal(process.env),
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
    windowsHide: true,
  });
}

type FirstResponse =
  | { readonly kind: 'renewing' }
  | { readonly kind: 'silent' }
  | { readonly kind: 'ended'; readonly reason: string };

/** Listens from the start: the process may end during the first renewal. */
const responseOf = (child: ReturnType<typeof spawnProcess>): Promise<FirstResponse> =>
  Promise.race<FirstResponse>([
    once(child.stdout, 'data').then(() => ({ kind: 'renewing' })),
    once(child, 'close').then(([code, killedBy]) => ({
      kind: 'ended',
      reason: code === null ? `${killedBy} ended it` : `it ended with exit code ${code}`,
    })),
  ]);

function handOver({ child }: RenewalProcess, context: Context, task: RenewalTask): void {
  // Saved before the process starts to renew, so that the post-step finds it even if this step is killed.
  context.saveState('renewer', JSON.stringify(identifyProcess(child.pid ?? 0)));
  // A process that has ended does not respond either, and its end is more informative.
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify(task));
}

/** Waits until the process reports that it renews. From then on it continues alone, even after the step. */
async function firstResponse({ child, response }: RenewalProcess): Promise<FirstResponse> {
  try {
    return await unlessAborted(response, AbortSignal.timeout(maxResponseMs));
  } catch {
    return { kind: 'silent' };
  } finally {
    child.stdout.destroy();
    child.unref();
  }
}

/** The task of the renewing process. */
export type RenewalTask = ReturnType<typeof createRenewalTask>;

interface StepToRenew {
  readonly step: string;
  readonly grants: readonly Grant[];
  /** Time since the locks were granted. */
  readonly ageMs: number;
}

/** Sent through a pipe, because later steps can read the environment of a process. */
const createRenewalTask = (
  { client, clock, connection, ledger, runner }: Context,
  { workspace, ttl }: TaskOf<'lock'>,
  { step, grants, hasLost, ageMs }: StepToRenew & { readonly hasLost: boolean },
  cancels: RunToCancel | undefined,
) => ({
  connection,
  origin: runner.origin,
  ledgerFile: ledger.file,
  step,
  workspace,
  ttl: formatDuration(ttl),
  /** The ledger may be gone while the locks are still held. */
  grants,
  /** Whether the first renewal has lost one of them. */
  hasLost,
  ageMs,
  /** The run to cancel if a lock is lost. */
  cancels,
  /** The clock of the service minus that of this machine. */
  clockOffsetMs: client.serverNow() - clock(),
  /** The worker process of the runner; undefined if unknown. */
  worker: identifyProcess(runner.worker),
  /** Their URLs may contain passwords. */
  proxies: proxiesIn(process.env),
});
