import { writeFileSync } from 'node:fs';
import type { PoolItem } from '../../client/leases.ts';
import { formatDuration } from '../../interface/duration.ts';
import { errorMessage, formatNumber, joinFirst, pluralize } from '../../interface/format.ts';
import { byPath, type LockPath } from '../../interface/lock-path.ts';
import { acquireLocks } from '../../locks/acquire.ts';
import type { Entry, Grant } from '../../locks/ledger/entry.ts';
import type { JobLocks } from '../../locks/ledger/history.ts';
import { lockJson, locksFile, type Recorder } from '../../locks/ledger/ledger.ts';
import type { Blocked } from '../../locks/messages.ts';
import { rollBack } from '../../locks/rollback.ts';
import { createLockSession } from '../../locks/session.ts';
import { InputError, minSecretLength } from '../inputs/table.ts';
import type { TaskOf } from '../inputs/task.ts';
import { resolvePaths } from '../paths/resolve-paths.ts';
import { identifyProcess } from '../renewal/processes.ts';
import type { Renewer } from '../renewal/renewer.ts';
import { fitsVariable, type Outcome, type Outputs } from '../report/outcome.ts';
import { locksOutput } from '../report/results.ts';
import { type Context, defaultLimits } from '../step/context.ts';
import { findAlreadyHeld, jobLocksIn, type LookedUp } from './job-locks.ts';
import {
  acquiredOutcome,
  alreadyHeldOutcome,
  LedgerFailure,
  type LockStep,
  notAcquiredOutcome,
} from './lock-report.ts';

/** Locks all paths, or any N of them, or none. Waits up to `wait` while others hold them. */
export async function lock(given: Context, task: TaskOf<'lock'>, renewer?: Renewer): Promise<Outcome> {
  const step = randomUuid();
  const context = { ...given, record: createStepRecorder(given, step, task.onLost) };
  const { client, clock, signal, connection, record, redact } = context;
  const { workspace, type, ttl } = task;
  const service = connection.baseUrl;
  const jobLocks = jobLocksIn(context, workspace);
  const { paths, wanted } = await goalOf(context, task, jobLocks);
  // Loaded on demand: no other step starts a process.
  const renewal = task.renew ? (await import('../renewal/start.ts')).createRenewal(context, task, renewer) : undefined;
  const lockStep: LockStep = { context, task, step, paths, wanted, startedAt: clock() };
  const now = (): string => new Date(client.serverNow()).toISOString();
  try {
    const main = identifyProcess(process.pid);
    record({ kind: 'plan', service, workspace, step, main, paths, at: now() });
    let alreadyHeld = await findAlreadyHeld(context, workspace, paths);
    const others = withoutOwn(paths, alreadyHeld);
    if (task.from.kind === 'paths' && others.length < wanted) return alreadyHeldOutcome(alreadyHeld);

    const session = createLockSession(context);
    const terms = { service, workspace, step, type, ttl };
    let inVain = false;
    /** A parallel step may have locked a path meanwhile. The service names only the items of a pool that are not free. */
    const isInVain = async ({ conflicts }: Blocked): Promise<boolean> => {
      const needed = task.from.kind === 'pool' ? conflicts.map(({ path }) => path) : paths;
      alreadyHeld = await findAlreadyHeld(context, workspace, needed);
      const least = task.from.kind === 'pool' ? 1 : wanted;
      inVain = withoutOwn(needed, alreadyHeld).length < least;
      return inVain;
    };
    const acquire = { ...context, session, terms, withoutWait: defaultLimits(context), isInVain };
    const pool = task.from.kind === 'pool' ? task.from : undefined;
    const result = await acquireLocks(acquire, { paths: others, pool, count: wanted }, task);
    const { round } = result;
    if (round.kind === 'held' && inVain) return alreadyHeldOutcome(alreadyHeld);
    if (round.kind !== 'acquired') return notAcquiredOutcome(lockStep, round, result);
    record({ kind: 'acquired', service, workspace, step, at: now() });
    if (signal.aborted) {
      const { left } = await rollBack(acquire, round.grants, []);
      return notAcquiredOutcome(lockStep, { kind: 'cancelled', left }, result);
    }
    maskSecrets(context, round.items);
    const sorted = sortGrants(lockStep, round.grants);
    const ageMs = clock() - round.grantedAt;
    const grants = renewal === undefined ? sorted : await renewal.start(step, sorted, ageMs);
    const locks = grants.map(({ lock }) => lock);
    const outputs: Outputs = {
      status: 'acquired',
      acquired: 'true',
      count: String(locks.length),
      holder: '',
      waited_seconds: String(Math.floor(result.waitedMs / 1_000)),
      locks: locksOutput(locks, (entries) => lockJson(entries, redact)),
      ...writeLocksFile(lockStep, lockJson(locks, redact)),
      ...(task.from.kind === 'pool' && { properties: propertiesOf(round.items) }),
    };
    saveLocks(lockStep, grants, outputs);
    return acquiredOutcome(lockStep, grants, result, outputs);
  } finally {
    renewal?.end();
  }
}

/**
 * Saves the step before its first request for a lock: from then on, there may be locks to release. Ends a step whose
 * ledger cannot be written.
 */
function createStepRecorder(
  { ledger, log, saveState, cancel }: Context,
  step: string,
  onLost: TaskOf<'lock'>['onLost'],
): Recorder {
  let isSaved = false;
  return (...entries) => {
    try {
      ledger.append(...entries);
    } catch (error) {
      cancel(new LedgerFailure(errorMessage(error)));
      return;
    }
    if (isSaved || !entries.some(({ kind }) => kind === 'intent' || kind === 'lease')) return;
    isSaved = true;
    saveState('step', step);
    saveState('main', JSON.stringify(identifyProcess(process.pid)));
    // The runner evaluates the inputs again for the post-step, but the value in this step counts.
    saveState('on-lost', onLost);
    log.debug(`The id of this step in the ledger is ${step}.`);
  };
}

/** A random UUID (RFC 9562), not a secret. Node's own loads crypto, which takes a seventh as long as starting Node. */
const randomUuid = (): string =>
  'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replaceAll('x', () => Math.floor(Math.random() * 16).toString(16));

/** The paths of the input, and how many of them, or of the items of a pool, the step wants. */
async function goalOf(context: Context, task: TaskOf<'lock'>, { held }: JobLocks) {
  if (task.from.kind === 'pool') return { paths: [], wanted: task.any === 'all' ? 1 : task.any };
  const isLocked = (path: LockPath): boolean => held.has(path);
  const resolved = await resolvePaths(task.from.paths, { ...context.runner, isLocked });
  const paths = resolved.paths.map(({ path }) => path);
  const wanted = wantedOf(task.any, paths);
  if (resolved.warning !== undefined) context.log.warn(resolved.warning);
  return { paths, wanted };
}

function maskSecrets({ mask, log }: Context, items: readonly PoolItem[]): void {
  for (const { path, properties, secret } of items) {
    for (const name of secret) {
      const value = properties[name] ?? '';
      if (value.length < minSecretLength) {
        log.warn(
          `The secret property ${name} of ${path} is too short to be hidden in logs: it needs at least ${minSecretLength} characters.`,
        );
        continue;
      }
      // As it is, and as it is in the output, which is JSON.
      for (const text of new Set([value, JSON.stringify(value).slice(1, -1)])) mask(text);
    }
  }
}

const propertiesOf = (items: readonly PoolItem[]): string =>
  JSON.stringify(Object.fromEntries(items.map(({ path, properties }) => [path, properties])));

const withoutOwn = (paths: readonly LockPath[], own: readonly LookedUp[]): readonly LockPath[] =>
  paths.filter((path) => !own.some(({ ours }) => ours.grant.path === path));

const maxNamed = 5;

function wantedOf(any: TaskOf<'lock'>['any'], paths: readonly LockPath[]): number {
  if (any === 'all') return paths.length;
  if (any <= paths.length) return any;
  const found = `\`path\` names only ${pluralize(paths.length, 'path')}: ${joinFirst(paths, maxNamed)}`;
  throw new InputError([`Input \`any\` is ${formatNumber(any)}, but ${found}. Add paths, or lower \`any\`.`]);
}

/** Sorted by path; with `any`, in the order of the input. */
function sortGrants({ task, paths }: LockStep, grants: readonly Grant[]): readonly Grant[] {
  if (task.any === 'all') return grants.toSorted(byPath);
  const byLockedPath = new Map<string, Grant>(grants.map((grant) => [grant.path, grant]));
  // A pool may have grown during the wait.
  const added = grants.filter(({ path }) => !paths.some((each) => each === path));
  return [...paths.flatMap((path) => byLockedPath.get(path) ?? []), ...added];
}

function writeLocksFile({ context, step }: LockStep, locks: string): Outputs {
  const file = locksFile(context.runner.temporaryFolder, step);
  try {
    writeFileSync(file, locks, { mode: 0o600 });
    return { locks_file: file };
  } catch (error) {
    context.log.warn(
      `Could not write the file of the locks: ${errorMessage(error)}. Use the output \`locks\` instead, unless it is empty because the list is too long.`,
    );
    return {};
  }
}

/** Informs the post-step that the step has all its locks, and whether to release them, should the ledger be gone then. */
function saveLocks({ context, task, step }: LockStep, grants: readonly Grant[], outputs: Outputs): void {
  const { connection, client, redact, saveState, setOutputs } = context;
  // The next job needs these outputs to release locks that outlive this one.
  if (!task.autoRelease) setOutputs(outputs);
  const { type, ttl } = task;
  const about = { service: connection.baseUrl, workspace: task.workspace, step };
  const at = new Date(client.serverNow()).toISOString();
  const acquired: Entry = { kind: 'acquired', ...about, outlivesJob: !task.autoRelease, at };
  const { leased = [], single = [] } = Object.groupBy(grants, ({ lock }) => (lock.lease ? 'leased' : 'single'));
  // The lease stands for all of its locks, whichever of them a later step releases.
  const lease = leased.slice(0, 1).map(({ path }): Entry => {
    return { kind: 'lease', ...about, lease: step, path, type, ttl: formatDuration(ttl), at };
  });
  const lines = [acquired, ...lease, ...single].map((entry) => lockJson(entry, redact));
  let saved = '';
  for (const line of lines) {
    if (!fitsVariable(saved + line)) break;
    saved += `${line}\n`;
  }
  saveState('locks', saved);
}
