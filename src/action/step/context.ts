import { type Client, type ClientOptions, createClient } from '../../client/client.ts';
import type { LockComparison } from '../../client/known-lock.ts';
import type { CallLimits, Retry } from '../../client/request.ts';
import { sleep, steadyClock } from '../../client/time.ts';
import { milliseconds } from '../../interface/duration.ts';
import { formatElapsed } from '../../interface/format.ts';
import { createRecorder, ledgerFile, marksIn, openLedger } from '../../locks/ledger/ledger.ts';
import type { ConnectionInputs } from '../inputs/task.ts';
import type { Reporter } from '../report/reporter.ts';
import { cancellation, readRunner } from './runner.ts';

/** State that the post-step of the same step can read. */
export type StateName = 'step' | 'main' | 'on-lost' | 'requested' | 'locks' | 'renewer';

export type Context = ReturnType<typeof createContext>;

/** The environment of an operation. Does not depend on the runner's toolkit, so that tests can pass their own. */
export function createContext(
  connection: ConnectionInputs,
  reporter: Reporter,
  saveState: (name: StateName, value: string) => void,
) {
  const runner = readRunner(process.env);
  const cancelled = cancellation(runner.worker);
  const compared: LockComparison[] = [];
  const ledger = openLedger(ledgerFile(runner.temporaryFolder));
  const record = createRecorder(ledger, reporter.log);
  reporter.log.debug(`Service ${connection.baseUrl}, checkout ${runner.checkout}, ledger ${ledger.file}.`);
  return {
    ...reporter,
    connection,
    runner,
    client: connect(connection, runner.origin, reporter, {
      branch: runner.branch,
      marks: marksIn(ledger, record, connection.baseUrl),
      onCompared: (comparison) => compared.push(comparison),
    }),
    /** Locks of this step on outdated files. */
    compared,
    ledger,
    record,
    saveState,
    signal: cancelled.signal,
    /** Ends the step like a cancellation by the runner. */
    cancel: (reason: Error): void => cancelled.abort(reason),
    clock: steadyClock,
    sleep,
    random: Math.random,
  };
}

const defaultLimitMs = 120_000;

/** Without an explicit wait, an operation may take two minutes plus one attempt. */
export const defaultLimits = ({ clock, connection, signal }: Context): CallLimits => ({
  deadline: clock() + defaultLimitMs + milliseconds(connection.requestTimeout),
  signal,
});

/** The client of a step. It logs retries, and sends the run URL with its requests. */
export function connect(
  connection: ConnectionInputs,
  origin: string | undefined,
  { log, mask }: Pick<Reporter, 'log' | 'mask'>,
  more: Pick<ClientOptions, 'branch' | 'onCompared' | 'marks'>,
): Client {
  const { baseUrl, credentials, requestTimeout, retries } = connection;
  return createClient({
    baseUrl,
    // Each process of the job exchanges its own tokens.
    credentials: credentials.kind === 'static' ? credentials : { ...credentials, onToken: mask },
    retries,
    requestTimeoutMs: milliseconds(requestTimeout),
    userAgent: `workspace-automation/${actionVersion}`,
    ...(origin !== undefined && { origin }),
    ...more,
    onWarning: log.warn,
    onRetry: retryLog(log),
  });
}

/** Sent as User-Agent. A test compares it with package.json. */
export const actionVersion = '0.1.0';

/** More retries of a failing service would fill the log of a step with many requests. */
const maxRetriesInLog = 10;

export function retryLog(log: Reporter['log']) {
  let logged = 0;
  return ({ reason, delayMs }: Retry): void => {
    logged += 1;
    const write = logged <= maxRetriesInLog ? log.line : log.debug;
    write(`${reason} Trying again in ${formatElapsed(delayMs)}.`);
    if (logged === maxRetriesInLog) log.line('Further retries appear only in the debug log.');
  };
}
