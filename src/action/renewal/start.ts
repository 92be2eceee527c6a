import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { type ServiceError, withRequest } from '../../client/client.ts';
import { formatDuration } from '../../interface/duration.ts';
import type { Context } from '../context.ts';
import type { TaskOf } from '../inputs/load.ts';
import { type Grant, parsedAddress } from '../ledger/entry.ts';
import { isProven } from '../locks/release.ts';
import { moment } from '../report/words.ts';
import { environmentOfRenewal, formatRenewalOrder, proxiesIn } from './order.ts';
import { lookAt } from './processes.ts';

/** The service may take a while; the locks are all held, and the job waits. */
const maxFirstRenewalMs = 10_000;

const soonestEnd = (grants: readonly Grant[]): number =>
  Math.min(...grants.map(({ lock }) => Date.parse(lock.expires_at)));

/** A service that cannot renew is found out at the first renewal, while there is somebody to tell. */
type FirstRenewal =
  | { readonly kind: 'possible'; readonly grant: Grant }
  | {
      readonly kind: 'impossible';
      readonly grant: Grant;
      readonly why: string;
      readonly request?: string | undefined;
    };

async function renewFirst(
  { client, clock, signal }: Context,
  task: TaskOf<'lock'>,
  grant: Grant,
): Promise<FirstRenewal> {
  const { lock } = grant;
  const refusal = ({ reason, request }: ServiceError): FirstRenewal => {
    const why = reason.replace(/\.$/, '');
    return { kind: 'impossible', grant, why, request };
  };
  if (!isProven(lock)) return { kind: 'impossible', grant, why: 'it gives its locks neither ids nor ETags' };
  const { path, workspace } = parsedAddress(grant);
  const idempotencyKey = crypto.randomUUID();
  const renewal = await client.renewLock(
    { workspace, path, type: lock.type, ttl: task.ttl, idempotencyKey, proof: lock },
    { deadline: clock() + maxFirstRenewalMs, signal },
  );
  switch (renewal.kind) {
    case 'renewed':
    case 'replaced': {
      const { id, etag, fence = lock.fence, expires_at = lock.expires_at } = renewal.lock;
      const now = { ...grant, lock: { ...lock, id, etag, fence, expires_at } };
      return renewal.kind === 'renewed'
        ? { kind: 'possible', grant: now }
        : { kind: 'impossible', grant: now, why: 'it grants another lock instead' };
    }
    case 'lost':
      // 412 comes from a service that knows renewals, and is for the process that renews to find out about.
      return renewal.error.status === 412 ? { kind: 'possible', grant } : refusal(renewal.error);
    case 'refused':
      return refusal(renewal.error);
    case 'failed':
      // Trouble on the way says nothing of what the service can do.
      return { kind: 'possible', grant };
  }
}

/**
 * It works for a few seconds in a third of a `ttl`, beside a job that may need the memory: little room for garbage, and
 * no optimizing compiler, which would take more memory than the locks.
 */
const memoryFlags = ['--max-semi-space-size=1', '--max-old-space-size=256', '--max-opt=1'];

/** It does nothing until it is told what to renew, and ends where it is told nothing. */
async function startProcess() {
  // The file beside the one that runs: the bundler knows nothing of it.
  const file = join(dirname(process.argv[1] ?? ''), 'renew', 'index.js');
  const child = spawn(process.execPath, [...memoryFlags, file], {
    // Windows does not remove a folder in which a process is: not the checkout, and not the runner's temporary folder.
    cwd: dirname(file),
    env: environmentOfRenewal(process.env),
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    windowsHide: true,
  });
  await once(child, 'spawn');
  return child;
}

/** From here on it goes on by itself, also when the step has ended. */
async function handOver(
  child: Awaited<ReturnType<typeof startProcess>>,
  context: Context,
  task: TaskOf<'lock'>,
  step: string,
): Promise<void> {
  const { client, clock, connection, ledger, runner, saveState } = context;
  const order = formatRenewalOrder({
    connection,
    origin: runner.origin,
    ledgerFile: ledger.file,
    step,
    workspace: task.workspace,
    ttl: formatDuration(task.ttl),
    serverAheadMs: client.serverNow() - clock(),
    worker: lookAt(runner.worker),
    proxies: proxiesIn(process.env),
  });
  // Before it begins, so that the post-step finds it whatever happens to this step.
  saveState('renewer', JSON.stringify(lookAt(child.pid ?? 0)));
  await new Promise<void>((resolve, reject) => {
    child.stdin.on('error', reject);
    child.stdin.end(order, resolve);
  });
  child.unref();
}

/**
 * Has all locks of a step renewed for as long as the job lives, or says that this service cannot do it. Returns the
 * grants as they are then: the first one has been renewed once.
 */
export async function startRenewal(
  context: Context,
  task: TaskOf<'lock'>,
  step: string,
  grants: readonly Grant[],
): Promise<readonly Grant[]> {
  const { client, log, record, runner, saveState } = context;
  const [first, ...others] = grants;
  if (first === undefined) return grants;
  const couldNotStart = (why: string, until: string): void =>
    log.warn(
      `The process that renews the locks could not be started (${why}). They hold until ${until}; a longer \`ttl\` lasts longer.`,
    );
  // The next parent of an orphan may live for years, and there is nobody left to release anything.
  if (process.ppid !== runner.worker) {
    couldNotStart('what runs the steps of the job is gone', moment(soonestEnd(grants), client.serverNow()));
    return grants;
  }
  // Killed from here on, a step leaves a process behind that its post-step has to stop.
  saveState('renewer', '{}');
  // It starts while the service answers.
  const starting = startProcess();
  // It is looked at below: until then, that it failed is no unhandled error.
  const child = starting.catch(() => undefined);
  const result = await renewFirst(context, task, first);
  if (result.grant !== first) record({ ...result.grant, at: new Date(client.serverNow()).toISOString() });
  const all = [result.grant, ...others];
  const until = (): string => moment(soonestEnd(all), client.serverNow());
  if (result.kind === 'impossible') {
    (await child)?.kill();
    const text = `This service cannot renew locks: ${result.why}. They hold until ${until()}; a longer \`ttl\` lasts longer.`;
    log.warn(withRequest(text, result.request));
    return all;
  }
  try {
    await handOver(await starting, context, task, step);
    log.line(`The locks are renewed for as long as the job lives: \`renew\` is true.`);
  } catch (error) {
    couldNotStart(error instanceof Error ? error.message : String(error), until());
  }
  return all;
}
