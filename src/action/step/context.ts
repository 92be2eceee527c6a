import { type CallLimits, type Client, type Clock, sleep, steadyClock } from '../../client/client.ts';
import { milliseconds } from '../../interface/duration.ts';
import type { ConnectionInputs } from '../inputs/connection.ts';
import { explainErrors, type GivenInputs } from '../inputs/refused-inputs.ts';
import { createRecorder, type Ledger, ledgerFile, openLedger, type Recorder } from '../ledger/ledger.ts';
import type { Outputs } from '../report/outcome.ts';
import type { Redact } from '../report/redact.ts';
import type { Log, Reporter } from '../report/reporter.ts';
import { connect } from './connect.ts';
import { cancellation, readRunner } from './runner.ts';

/** State that the post-step of the same step can read. */
export type StateName = 'step' | 'on-lost' | 'locks' | 'renewer';

/** The environment of an operation. It does not depend on the runner's toolkit, and tests pass their own. */
export interface Context {
  readonly connection: ConnectionInputs;
  readonly runner: ReturnType<typeof readRunner>;
  readonly client: Client;
  readonly ledger: Ledger;
  /** Appends to the ledger. The step continues if that fails. */
  readonly record: Recorder;
  readonly log: Log;
  /** Sets outputs that later steps can rely on, even if this step fails afterwards. */
  readonly setOutputs: (outputs: Outputs) => void;
  readonly saveState: (name: StateName, value: string) => void;
  readonly redact: Redact;
  /** Formats an error for users, in terms of the inputs of the step. */
  readonly explain: (error: unknown) => string;
  /** Aborted when the step is cancelled. */
  readonly signal: AbortSignal;
  /** The clock of this machine; `client` has that of the service. */
  readonly clock: Clock;
  /** Returns early, without an error, when the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** At least 0 and less than 1. */
  readonly random: () => number;
}

export function createContext(
  connection: ConnectionInputs,
  { log, mask, setOutputs }: Reporter,
  { saveState, redact, given }: Pick<Context, 'saveState' | 'redact'> & { readonly given: GivenInputs },
): Context {
  const runner = readRunner(process.env);
  const ledger = openLedger(ledgerFile(runner.temporaryFolder), redact);
  log.debug(`Service ${connection.baseUrl}, checkout ${runner.checkout}, ledger ${ledger.file}.`);
  return {
    connection,
    runner,
    client: connect(connection, runner.origin, { log, mask }),
    ledger,
    record: createRecorder(ledger, log),
    log,
    setOutputs,
    saveState,
    redact,
    explain: explainErrors(given),
    signal: cancellation(),
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
}: Pick<Context, 'clock' | 'signal'> & {
  readonly connection: Pick<ConnectionInputs, 'requestTimeout'>;
}): CallLimits => ({
  deadline: clock() + defaultLimitMs + milliseconds(connection.requestTimeout),
  signal,
});
