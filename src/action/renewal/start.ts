import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { withRequest } from '../../client/client.ts';
import { errorMessage, formatTime } from '../../interface/format.ts';
import { unlessAborted } from '../../interface/timers.ts';
import { type Grant, soonestExpiry } from '../../locks/ledger/entry.ts';
import { hasIdentity } from '../../locks/release.ts';
import type { TaskOf } from '../inputs/read-task.ts';
import type { Context } from '../step/context.ts';
import { identifyProcess } from './processes.ts';
import { createRenewalTask, environmentOfRenewal, type StepToRenew } from './task.ts';

type RenewalProcess = Awaited<ReturnType<typeof startProcess>>;

/** Time for Node to start on a busy machine. */
const maxResponseMs = 2_000;

/** Prepares the renewal while the step requests its locks: Node takes longer to start than the service to respond. */
export function prepareRenewal(context: Context, task: TaskOf<'lock'>) {
  const { client, clock, log, record, runner, saveState } = context;
  let renewer: Promise<RenewalProcess> | undefined;
  let handedOver = false;

  function prepare(): Promise<RenewalProcess> {
    renewer ??= startProcess();
    // A failure is reported only if there are locks to renew.
    renewer.catch(() => undefined);
    return renewer;
  }

  // A step that may wait for hours starts the process later: until then it would only use memory.
  if (task.wait.seconds === 0) prepare();

  return {
    /**
     * Starts the renewal, or warns that nothing renews the locks. Returns the updated grants: the first is renewed
     * once.
     */
    async start({ step, grants, ageMs }: StepToRenew): Promise<readonly Grant[]> {
      const [first, ...others] = grants;
      const startedAt = clock();
      if (first === undefined) return grants;
      // The new parent of an orphan may live for years, and nothing is left to release the locks.
      const isOrphan = (): boolean => process.ppid !== runner.worker;
      if (isOrphan()) {
        log.warn(notStartedText(context, orphaned, grants));
        return grants;
      }
      // If the step is killed after this, its post-step must stop the process.
      saveState('renewer', '{}');
      prepare();
      const leased = await renewLeaseFirst(context, task, grants);
      const { grant, reason, request } = leased ?? (await renewFirst(context, task, first));
      if (grant !== first) record({ ...grant, at: new Date(client.serverNow()).toISOString() });
      const renewed = leased?.grants ?? [grant, ...others];
      if (reason !== undefined) {
        const text = `This service cannot renew locks: ${reason}. They ${expiryText(context, renewed)}`;
        log.warn(withRequest(text, request));
        return renewed;
      }
      try {
        const prepared = await prepare();
        handedOver = true;
        handOver(prepared, context, task, { step, grants: renewed, ageMs: ageMs + clock() - startedAt });
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

/** A lease is renewed as one. Undefined for locks without one. */
async function renewLeaseFirst({ client, clock, signal }: Context, { ttl }: TaskOf<'lock'>, grants: readonly Grant[]) {
  const [first] = grants;
  const lease = first?.lock.lease;
  if (first === undefined || lease === undefined) return undefined;
  const limits = { deadline: clock() + maxFirstRenewalMs, signal };
  const renewal = await client.renewLease({ workspace: first.workspace, lease }, ttl, limits);
  const { reason, request } = renewal.kind === 'refused' ? renewal.error : {};
  if (renewal.kind !== 'renewed') return { grant: first, grants, reason: reason?.replace(/\.$/, ''), request };
  const lost = new Set<string>(renewal.lost.map(({ path }) => path));
  const renewed = grants.map((grant) =>
    lost.has(grant.path) ? grant : { ...grant, lock: { ...grant.lock, expires_at: renewal.expiresAt } },
  );
  return { grant: first, grants: renewed };
}

/**
 * The first renewal shows whether the service supports renewal, while the step can still warn about it. `reason` says
 * why it does not.
 */
async function renewFirst({ client, clock, signal }: Context, task: TaskOf<'lock'>, grant: Grant) {
  const { path, workspace, lock } = grant;
  if (!hasIdentity(lock)) return { grant, reason: 'its locks have neither ids nor ETags' };
  const idempotencyKey = crypto.randomUUID();
  const renewal = await client.renewLock(
    { workspace, path, type: lock.type, ttl: task.ttl, idempotencyKey, proof: lock },
    { deadline: clock() + maxFirstRenewalMs, signal },
  );
  switch (renewal.kind) {
    case 'renewed':
    case 'replaced': {
      const { id, etag, fence = lock.fence, expires_at } = renewal.lock;
      const now = { ...grant, lock: { ...lock, id, etag, fence, expires_at } };
      return { grant: now, ...(renewal.kind === 'replaced' && { reason: 'it grants another lock instead' }) };
    }
    case 'lost':
    case 'refused':
      // A service that answers 412 supports renewal. The renewing process deals with the lost lock.
      if (renewal.kind === 'lost' && renewal.error.status === 412) return { grant };
      return { grant, reason: renewal.error.reason.replace(/\.$/, ''), request: renewal.error.request };
    case 'failed':
      // A failed request does not show whether the service supports renewal.
      return { grant };
  }
}

/** Little memory: the process works for a few seconds per third of a `ttl`, next to a job that may need the rest. */
const memoryOptions = ['--max-semi-space-size=1', '--max-old-space-size=256'];

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

function handOver({ child }: RenewalProcess, context: Context, task: TaskOf<'lock'>, step: StepToRenew): void {
  const renewalTask = createRenewalTask(context, task, step);
  // Saved before the process starts to renew, so that the post-step finds it even if this step is killed.
  context.saveState('renewer', JSON.stringify(identifyProcess(child.pid ?? 0)));
  // A process that has ended does not respond either, and its end is more informative.
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify(renewalTask));
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
