import type { LockComparison } from '../../client/known-lock.ts';
import type { CallLimits } from '../../client/request.ts';
import { sleep, steadyClock } from '../../client/time.ts';
import { milliseconds } from '../../interface/duration.ts';
import { createRecorder, ledgerFile, marksIn, openLedger } from '../../locks/ledger/ledger.ts';
import type { ConnectionInputs } from '../inputs/connection.ts';
import type { Reporter } from '../report/reporter.ts';
import { connect } from './connect.ts';
import { cancellation, readRunner } from './runner.ts';

/** State that the post-step of the same step can read. */
export type StateName = 'step' | 'main' | 'on-lost' | 'locks' | 'renewer';

export type Context = ReturnType<typeof createContext>;

/** The environment of an operation. It does not depend on the runner's toolkit, and tests pass their own. */
export function createContext(
  connection: ConnectionInputs,
  { log, mask, redact, setOutputs }: Reporter,
  saveState: (name: StateName, value: string) => void,
) {
  const runner = readRunner(process.env);
  const cancelled = cancellation(runner.worker);
  const compared: LockComparison[] = [];
  const ledger = openLedger(ledgerFile(runner.temporaryFolder), redact);
  const record = createRecorder(ledger, log);
  log.debug(`Service ${connection.baseUrl}, checkout ${runner.checkout}, ledger ${ledger.file}.`);
  return {
    connection,
    runner,
    client: connect(
      connection,
      runner.origin,
      { log, mask },
      {
        branch: runner.branch,
        marks: marksIn(ledger, record, connection.baseUrl),
        onCompared: (comparison) => compared.push(comparison),
      },
    ),
    /** Locks of this step on outdated files. */
    compared,
    ledger,
    record,
    log,
    /** Sets outputs that later steps can rely on, even if this step fails afterwards. */
    setOutputs,
    saveState,
    redact,
    mask,
    signal: cancelled.signal,
    /** Ends the step like a cancellation by the runner. */
    cancel: (reason: Error): void => cancelled.abort(reason),
    clock: steadyClock,
    sleep,
    random: Math.random,
  };
}

const defaultLimitMs = 120_000;

/** Without an explicit wait, an operation is limited to two minutes plus one attempt. */
export const defaultLimits = ({
  clock,
  connection,
  signal,
}: Pick<Context, 'clock' | 'connection' | 'signal'>): CallLimits => ({
  deadline: clock() + defaultLimitMs + milliseconds(connection.requestTimeout),
  signal,
});
