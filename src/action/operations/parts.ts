import type { Client, Clock, Within } from '../../client/client.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Log } from '../log.ts';
import type { Outputs } from '../outcome.ts';

/** What an operation works with. It knows nothing of the runner's toolkit. */
export interface Parts {
  readonly client: Client;
  /** Of this machine; the client knows that of the server. */
  readonly clock: Clock;
  /** Ends early, without an error, when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Aborted when the step is cancelled. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Writes outputs that later steps can rely on, whatever happens from here on. */
  readonly publish: (outputs: Outputs) => void;
  readonly requestTimeoutMs: number;
  /** Attempts of a request after the first. */
  readonly retries: number;
  readonly ledger: Ledger;
  /** Names this step in the ledger. */
  readonly step: string;
  /** What the workflow calls it; undefined outside of a workflow. */
  readonly stepName: string | undefined;
  /** The address of the run, sent with every request; undefined outside of a workflow. */
  readonly origin: string | undefined;
  /** Lets the post-step know, before the first lock is asked for, that there may be something to release. */
  readonly announce: () => void;
  /** Gives the runner something to remember for the post-step, in case that the ledger is gone by then. */
  readonly keep: (text: string) => void;
  /** Takes secrets out of a text. */
  readonly conceal: (text: string) => string;
  /** A file of this step's own in the runner's temporary folder. */
  readonly locksFile: string;
}

const ordinaryMs = 120_000;

/** Without an explicit wait, an operation ends within two minutes and one attempt. */
export const ordinaryLimits = ({
  clock,
  requestTimeoutMs,
  signal,
}: Pick<Parts, 'clock' | 'requestTimeoutMs' | 'signal'>): Within => ({
  deadline: clock() + ordinaryMs + requestTimeoutMs,
  signal,
});
