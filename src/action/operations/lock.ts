import { writeFileSync } from 'node:fs';
import type { PoolItem } from '../../client/leases.ts';
import type { Conflicts } from '../../client/post-lock.ts';
import { errorMessage, formatNumber, joinFirst, pluralize } from '../../interface/format.ts';
import { byPath, maxNamedPaths } from '../../interface/lock-path.ts';
import { acquireLocks } from '../../locks/acquire.ts';
import type { Entry, Grant } from '../../locks/ledger/entry.ts';
import { type History, openHistory } from '../../locks/ledger/history.ts';
import { createRemovalCheck, locksFile, type Recorder } from '../../locks/ledger/ledger.ts';
import { unansweredText } from '../../locks/messages.ts';
import { rollBack } from '../../locks/release.ts';
import { InputError, minSecretLength } from '../inputs/read.ts';
import type { TaskOf } from '../inputs/task.ts';
import { resolvePaths } from '../paths/resolve-paths.ts';
import { identifyProcess } from '../renewal/processes.ts';
import type { Renewer } from '../renewal/renewer.ts';
import { fitsVariable, type Outcome, type Outputs } from '../report/outcome.ts';
import { locksOutput } from '../report/results.ts';
import { type Context, defaultLimits } from '../step/context.ts';
import { findAlreadyHeld } from './job-locks.ts';
import { acquiredOutcome, alreadyHeldOutcome, LedgerFailure, notAcquiredOutcome } from './lock-report.ts';

/** Locks all paths, or any N of them, or none. Waits up to `wait` while others hold them. */
export async function lock(given: Context, task: TaskOf<'lock'>, renewer?: Renewer): Promise<Outcome> {
  const step = randomUuid();
  const history = openHistory();
  const context = { ...given, record: createStepRecorder(given, history.add) };
  const { client, clock, signal, connection, record, runner, saveState, log } = context;
  const { workspace, type, ttl, 'auto-release': autoRelease } = task;
  const job = { service: connection.baseUrl, workspace, step };
  const now = (): string => new Date(client.serverNow()).toISOString();
  saveStep(context, step, task['on-lost']);
  if (runner.worker === 0) endWithLedger(context);
  const { paths, pool, wanted } = await goalOf(context, task);
  // Loaded on demand: other steps have no process that renews locks.
  const renewal = renewer && (await import('../renewal/start.ts')).createRenewal(context, task, renewer);
  record({ kind: 'plan', ...job, paths, at: now() });

  let own = await findAlreadyHeld(context, workspace, paths);
  const ownPaths = new Set(own.map(({ ours }) => ours.grant.path));
  const free = paths.filter((path) => !ownPaths.has(path));
  let inVain = pool === undefined && free.length < wanted;
  if (inVain) return alreadyHeldOutcome(own);

  /** Whether a parallel step of this job holds a path. For a pool, the service names only items that are not free. */
  async function isInVain(conflicts: Conflicts): Promise<boolean> {
    // Other jobs may hold the items that it does not name.
    if (pool !== undefined && conflicts.length >= maxNamedPaths) return false;
    const needed = pool === undefined ? paths : conflicts.map(({ path }) => path);
    own = await findAlreadyHeld(context, workspace, needed);
    inVain = needed.length - own.length < (pool === undefined ? wanted : 1);
    return inVain;
  }
  const acquire = { ...context, terms: { ...job, type, ttl }, withoutWait: defaultLimits(context), isInVain };
  let result = await acquireLocks(acquire, { paths: free, pool, count: wanted }, task);
  if (result.kind === 'acquired') record({ kind: 'acquired', ...job, at: now() });
  if (result.kind === 'acquired' && signal.aborted) {
    const acquired = result.grants.map((grant) => ({ grant }));
    await rollBack(context, acquired);
    result = { ...result, kind: 'cancelled' };
  }
  const { held, unanswered, leases } = history.read();
  // The post-step does not settle these locks if they outlive the job.
  const report = autoRelease ? log.line : log.warn;
  for (const intent of unanswered) report(unansweredText(intent));
  if (result.kind === 'held' && inVain) return alreadyHeldOutcome(own);
  const isAll = held.length + unanswered.length + leases.length === 0;
  if (result.kind !== 'acquired') return notAcquiredOutcome(context, task, result, isAll);

  const kept = new Set(result.grants.flatMap(({ key, lock }) => [key, lock.lease]));
  const others = held
    .filter(({ grant, grantedAgain }) => !kept.has(grant.key) && !grantedAgain)
    .map(({ grant }) => `The lock on ${grant.path}`);
  if (leases.some(({ lease }) => !kept.has(lease))) others.push('A lock');
  for (const which of autoRelease ? [] : others) {
    log.warn(`${which} that is not in the outputs may stay until its \`ttl\` expires: it could not be released.`);
  }
  maskSecrets(context, result.items);
  const sorted = result.grants.toSorted(byPath);
  const grants = renewal === undefined ? sorted : await renewal(step, sorted, clock() - result.grantedAt);
  const locks = grants.map(({ lock }) => lock);
  const outputs: Outputs = {
    status: 'acquired',
    acquired: 'true',
    count: String(locks.length),
    holder: '',
    waited_seconds: String(Math.floor(result.waitedMs / 1_000)),
    locks: locksOutput(locks),
    ...writeLocksFile(context, locksFile(runner.temporaryFolder, step), JSON.stringify(locks)),
    ...(pool !== undefined && { properties: propertiesOf(result.items) }),
  };
  // Set before the state is saved: the next job needs the outputs to release locks that outlive this one.
  context.setOutputs(outputs);
  saveState('locks', stateOf({ kind: 'acquired', ...job, outlivesJob: !autoRelease, at: now() }, grants));
  return acquiredOutcome(context, task, grants, result);
}

/**
 * Saves the step before its first request. From then on, the post-step may have locks to release, and ends a step that
 * is still running, such as one in a container that outlives a cancellation.
 */
function saveStep({ client, record, saveState, signal, log }: Context, step: string, onLost: string) {
  const main = identifyProcess(process.pid);
  record({ kind: 'step-started', step, main, at: new Date(client.serverNow()).toISOString() });
  // Without a ledger, the step sends no requests.
  if (signal.aborted) return;
  saveState('step', step);
  saveState('main', JSON.stringify(main));
  // Saved, because the runner evaluates the inputs again for the post-step, but the value in this step counts.
  saveState('on-lost', onLost);
  log.debug(`The id of this step in the ledger is ${step}.`);
}

const pollMs = 250;

/** For a step that cannot see the end of its worker, as in a container: ends it when the job removes the ledger. */
function endWithLedger({ ledger, cancel }: Context): void {
  const isRemoved = createRemovalCheck(ledger.file);
  setInterval(() => {
    if (isRemoved()) cancel(new LedgerFailure('it was removed'));
  }, pollMs).unref();
}

/** Ends a step whose ledger cannot be written. Saves that it sent a request: the post-step then expects one there. */
function createStepRecorder({ ledger, saveState, cancel }: Context, remember: History['add']): Recorder {
  let hasRequested = false;
  return (...entries) => {
    remember(entries);
    try {
      ledger.append(...entries);
    } catch (error) {
      cancel(new LedgerFailure(errorMessage(error)));
      return;
    }
    if (hasRequested || !entries.some(({ kind }) => kind === 'intent' || kind === 'lease')) return;
    hasRequested = true;
    saveState('requested', 'true');
  };
}

/** A random UUID (RFC 9562), not a secret. Node's own function loads crypto, a seventh of Node's startup time. */
const randomUuid = (): string =>
  'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replaceAll('x', () => Math.floor(Math.random() * 16).toString(16));

/** The paths of the input, and how many of them, or of the items of a pool, the step wants. */
async function goalOf(context: Context, { path, glob, pool: name, where, any }: TaskOf<'lock'>) {
  if (name !== undefined) return { paths: [], pool: { name, where: Object.fromEntries(where) }, wanted: any ?? 1 };
  const paths = [...(await resolvePaths(path, { ...context, glob })).paths.keys()];
  const wanted = any ?? paths.length;
  if (wanted <= paths.length) return { paths, pool: undefined, wanted };
  const found = `\`path\` names only ${pluralize(paths.length, 'path')}: ${joinFirst(paths)}`;
  throw new InputError([`Input \`any\` is ${formatNumber(wanted)}, but ${found}. Add paths, or lower \`any\`.`]);
}

function maskSecrets({ mask, log }: Context, items: readonly PoolItem[]): void {
  const tooShort: string[] = [];
  for (const { path, properties, secret } of items) {
    for (const name of secret) {
      const value = properties[name] ?? '';
      if (value.length < minSecretLength) {
        tooShort.push(`The secret property ${name} of ${path}`);
        continue;
      }
      // Both as it is, and as in the output, which is JSON.
      for (const text of new Set([value, JSON.stringify(value).slice(1, -1)])) mask(text);
    }
  }
  // After all masks: a log line between two of them would cause all secrets to be prepared again.
  for (const which of tooShort)
    log.warn(`${which} is too short to be hidden in logs: it needs at least ${minSecretLength} characters.`);
}

const propertiesOf = (items: readonly PoolItem[]): string =>
  JSON.stringify(Object.fromEntries(items.map(({ path, properties }) => [path, properties])));

function writeLocksFile({ log }: Context, file: string, locks: string): Outputs {
  try {
    writeFileSync(file, locks, { mode: 0o600 });
    return { locks_file: file };
  } catch (error) {
    log.warn(
      `Could not write the file of the locks: ${errorMessage(error)}. Use the output \`locks\` instead, unless it is empty because the list is too long.`,
    );
    return {};
  }
}

/** The state that the post-step needs if the ledger is gone. The first lock of a lease stands for all of its locks. */
function stateOf(acquired: Entry, grants: readonly Grant[]): string {
  const { leased = [], single = [] } = Object.groupBy(grants, ({ lock }) => (lock.lease ? 'leased' : 'single'));
  let saved = '';
  for (const entry of [acquired, ...leased.slice(0, 1), ...single]) {
    const next = `${saved}${JSON.stringify(entry)}\n`;
    if (!fitsVariable(next)) break;
    saved = next;
  }
  return saved;
}
