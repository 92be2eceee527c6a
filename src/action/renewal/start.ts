import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { type CallLimits, type KnownLock, type ServiceError, withRequest } from '../../client/client.ts';
import { errorMessage, formatTime } from '../../interface/format.ts';
import { unlessAborted } from '../../interface/timers.ts';
import { type Grant, type Loss, soonestExpiry } from '../../locks/ledger/entry.ts';
import { cancelledText, lostRenewalText } from '../../locks/messages.ts';
import { hasIdentity } from '../../locks/release.ts';
import { lossOf } from '../../locks/renewal/renew-locks.ts';
import type { TaskOf } from '../inputs/task.ts';
import type { Context } from '../step/context.ts';
import { isWorkerGone } from '../step/runner.ts';
import { randomUuid } from '../step/uuid.ts';
import { cancelRun, findRun } from './cancel-run.ts';
import { identifyProcess } from './processes.ts';
import { createRenewalTask, environmentOfRenewal, type RenewalTask, type StepToRenew } from './task.ts';

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

  /** In the ledger, later steps see the losses. Nothing renews these locks. */
  async function reportLosses(losses: readonly Loss[], step: string): Promise<void> {
    for (const loss of losses) {
      record(loss);
      log.warn(lostRenewalText(loss, undefined, client.serverNow()));
    }
    if (losses.length === 0 || cancels === undefined) return;
    const cancelled = await cancelRun(cancels, { ...context, serverNow: client.serverNow }, step);
    record(cancelled);
    log.warn(cancelledText(cancelled));
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
      await reportLosses(losses, step);
      const held = renewed.filter(({ key, path }) => !losses.some((loss) => loss.key === key && loss.path === path));
      if (held.length === 0) return renewed;
      try {
        const prepared = await startOnce();
        handedOver = true;
        handOver(
          prepared,
          context,
          createRenewalTask(context, task, { step, grants: held, ageMs: ageMs + clock() - startedAt }, cancels),
        );
        const response = await firstResponse(prepared);
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
  readonly losses?: readonly Loss[];
  /** Why the service cannot renew locks. */
  readonly reason?: string;
  readonly request?: string | undefined;
}

/** Shows whether the service supports renewal, while the step can still warn about it. */
async function renewFirst(context: Context, task: TaskOf<'lock'>, grants: readonly Grant[]): Promise<FirstRenewal> {
  const { clock, signal } = context;
  const limits = { deadline: clock() + maxFirstRenewalMs, signal };
  const [first, ...others] = grants;
  if (first === undefined) return { renewed: grants };
  const { lease } = first.lock;
  if (lease !== undefined) return renewLeaseFirst(context, task, { lease, grants }, limits);
  const { grant, ...result } = await renewOneFirst(context, task, first, limits);
  return { ...result, renewed: [grant, ...others] };
}

async function renewLeaseFirst(
  { client }: Context,
  { workspace, ttl }: TaskOf<'lock'>,
  { lease, grants }: { readonly lease: string; readonly grants: readonly Grant[] },
  limits: CallLimits,
): Promise<FirstRenewal> {
  const renewal = await client.renewLease({ workspace, lease }, ttl, limits);
  // A failed request does not show whether the service supports renewal.
  if (renewal.kind === 'failed') return { renewed: grants };
  if (renewal.kind === 'refused') return { renewed: grants, ...refusalOf(renewal.error) };
  const lost = new Map<string, KnownLock | undefined>(renewal.lost.map(({ path, holder }) => [path, holder]));
  const losses = grants
    .filter(({ path }) => renewal.kind === 'ended' || lost.has(path))
    .map((grant) => lossOf(grant, lost.get(grant.path), client.serverNow()));
  if (renewal.kind === 'ended') return { renewed: grants, losses };
  const { expiresAt: expires_at } = renewal;
  const renewed = grants.map((grant) =>
    lost.has(grant.path) ? grant : { ...grant, lock: { ...grant.lock, expires_at } },
  );
  return { renewed, losses };
}

/** Renews one of the locks. */
async function renewOneFirst(
  { client, record }: Context,
  { ttl }: TaskOf<'lock'>,
  grant: Grant,
  limits: CallLimits,
): Promise<Omit<FirstRenewal, 'renewed'> & { readonly grant: Grant }> {
  const { path, workspace, lock } = grant;
  if (!hasIdentity(lock)) return { grant, reason: 'its locks have neither ids nor ETags' };
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
      return { grant: now, ...(renewal.kind === 'replaced' && { reason: 'it grants another lock instead' }) };
    }
    case 'lost': {
      const { error, holder } = renewal;
      // A service that answers 412 supports renewal.
      return error.status === 412
        ? { grant, losses: [lossOf(grant, holder, client.serverNow())] }
        : { grant, ...refusalOf(error) };
    }
    case 'refused':
      return { grant, ...refusalOf(renewal.error) };
    case 'failed':
      return { grant };
  }
}

const refusalOf = ({ reason, request }: ServiceError) => ({ reason, request });

/** Little memory, and no optimizing compiler: the process works for moments, next to a job that may need the rest. */
const memoryOptions = ['--max-semi-space-size=1', '--max-old-space-size=256', '--lite-mode'];

/** Starts the process. It does nothing until it receives its task, and ends if it receives none. */
async function startProcess() {
  // A separate bundle next to this one.
  const file = join(dirname(process.argv[1] ?? ''), 'renew', 'index.js');
  const child = spawn(process.execPath, [...memoryOptions, file], {
    // Windows cannot remove the working directory of a process, such as the checkout or the runner's temporary folder.
    cwd: dirname(file),
    env: environmentOfRenewal(process.env),
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
    windowsHide: true,
  });
  await once(child, 'spawn');
  return { child, response: responseOf(child) };
}

type FirstResponse =
  | { readonly kind: 'renewing' }
  | { readonly kind: 'silent' }
  | { readonly kind: 'ended'; readonly reason: string };

/** Listens from the start: the process may end during the first renewal. */
const responseOf = (child: ChildProcessByStdio<Writable, Readable, null>): Promise<FirstResponse> =>
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
