import type { WorkspaceId } from '../client/access.ts';
import type { Client } from '../client/client.ts';
import type { Clock } from '../client/time.ts';
import type { Ttl } from '../interface/duration.ts';
import type { Recorder } from './ledger/ledger.ts';

/** What acquiring, renewing and releasing locks needs: a step of a job has it, and so has a command. */
export interface LockContext {
  readonly client: Client;
  /** Appends to the ledger. A failure throws nothing: it ends the step, or is a warning. */
  readonly record: Recorder;
  readonly log: { line(text: string): void };
  /** Aborted when the step is cancelled. */
  readonly signal: AbortSignal;
  /** The clock of this machine; `client` has that of the service. */
  readonly clock: Clock;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
}

/** What a step acquires, and where. */
export interface LockTerms {
  readonly service: string;
  readonly workspace: WorkspaceId;
  readonly step: string;
  readonly type: string;
  readonly ttl: Ttl;
  /** For anyone who finds the path locked. */
  readonly note?: string | undefined;
}
