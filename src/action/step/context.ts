import { type CallLimits, type LockComparison, sleep, steadyClock } from '../../client/client.ts';
import { milliseconds } from '../../interface/duration.ts';
import type { Redact } from '../../interface/redact.ts';
import type { LockContext } from '../../locks/context.ts';
import { createRecorder, type Ledger, ledgerFile, openLedger } from '../../locks/ledger/ledger.ts';
import type { ConnectionInputs } from '../inputs/connection.ts';
import { explainErrors, type GivenInputs } from '../inputs/refused-inputs.ts';
import type { Outputs } from '../report/outcome.ts';
import type { Log, Reporter } from '../report/reporter.ts';
import { connect } from './connect.ts';
import { cancellation, readRunner } from './runner.ts';

/** State that the post-step of the same step can read. */
export type StateName = 'step' | 'on-lost' | 'locks' | 'renewer';

/** The environment of an operation. It does not depend on the runner's toolkit, and tests pass their own. */
export interface Context extends LockContext {
  readonly connection: ConnectionInputs;
  readonly runner: ReturnType<typeof readRunner>;
  /** Locks of this step on outdated files. */
  readonly compared: readonly LockComparison[];
  readonly ledger: Ledger;
  readonly log: Log;
  /** Sets outputs that later steps can rely on, even if this step fails afterwards. */
  readonly setOutputs: (outputs: Outputs) => void;
  readonly saveState: (name: StateName, value: string) => void;
  readonly redact: Redact;
  /** Keeps a secret out of the log, and out of everything that the step reports. */
  readonly mask: (secret: string) => void;
  /** Formats an error for users, in terms of the inputs of the step. */
  readonly explain: (error: unknown) => string;
}

export function createContext(
  connection: ConnectionInputs,
  { log, mask, setOutputs }: Reporter,
  { saveState, redact, given }: Pick<Context, 'saveState' | 'redact'> & { readonly given: GivenInputs },
): Context {
  const runner = readRunner(process.env);
  const compared: LockComparison[] = [];
  const ledger = openLedger(ledgerFile(runner.temporaryFolder), redact);
  log.debug(`Service ${connection.baseUrl}, checkout ${runner.checkout}, ledger ${ledger.file}.`);
  return {
    connection,
    runner,
    client: connect(
      connection,
      runner.origin,
      { log, mask },
      { branch: runner.branch, onCompared: (comparison) => compared.push(comparison) },
    ),
    compared,
    ledger,
    record: createRecorder(ledger, log),
    log,
    setOutputs,
    saveState,
    redact,
    mask,
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
