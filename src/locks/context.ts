import type { Client, Clock, WorkspaceId } from '../client/client.ts';
import type { Ttl } from '../interface/ttl.ts';
import type { Recorder } from './ledger/ledger.ts';

/** What acquiring, renewing and releasing locks needs: a step of a job has it, and so has a command. */
export interface LockContext {
  readonly client: Client;
  /** Appends to the ledger. The step continues if that fails. */
  readonly record: Recorder;
  readonly log: { line(text: string): void };
  /** Aborted when the step is cancelled. */
  readonly signal: AbortSignal;
  /** The clock of this machine; `client` has that of the service. */
  readonly clock: Clock;
  /** Returns early, without an error, when the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** At least 0 and less than 1. */
  readonly random: () => number;
}

/** What a step acquires, and where. */
export interface LockTerms {
  readonly service: string;
  readonly workspace: WorkspaceId;
  /** The id of the step in the ledger. */
  readonly step: string;
  readonly type: string;
  readonly ttl: Ttl;
}
