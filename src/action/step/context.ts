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

/** What the post-step of the same step finds again. */
export type StateName = 'step' | 'on-lost' | 'locks' | 'renewer';

/** What an operation works with. Nothing in it knows the runner's toolkit, and tests hand in their own. */
export interface Context {
  readonly connection: ConnectionInputs;
  readonly runner: ReturnType<typeof readRunner>;
  readonly client: Client;
  readonly ledger: Ledger;
  /** Adds to the ledger; the step continues if that fails. */
  readonly record: Recorder;
  readonly log: Log;
  /** Sets outputs that later steps can rely on, whatever happens from here on. */
  readonly setOutputs: (outputs: Outputs) => void;
  readonly saveState: (name: StateName, value: string) => void;
  readonly redact: Redact;
  /** An error as a person reads it, who knows the inputs of the step. */
  readonly explain: (error: unknown) => string;
  /** Aborted when the step is cancelled. */
  readonly signal: AbortSignal;
  /** The clock of this machine; the client has that of the server. */
  readonly clock: Clock;
  /** Ends early, without an error, when the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 up to 1. */
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

/** Without an explicit wait, an operation ends within two minutes and one attempt. */
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
