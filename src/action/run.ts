import { sleep, steadyClock } from '../client/client.ts';
import { milliseconds } from '../interface/duration.ts';
import { connect } from './connect.ts';
import type { Inputs } from './inputs/load.ts';
import { openLedger } from './ledger/ledger.ts';
import { listLocks } from './operations/list-locks.ts';
import { listBranches, listWorkspaces } from './operations/list-named.ts';
import { lock } from './operations/lock.ts';
import type { Parts } from './operations/parts.ts';
import { registerHook } from './operations/register-hook.ts';
import { sync } from './operations/sync.ts';
import { unlock } from './operations/unlock.ts';
import type { Outcome } from './outcome.ts';
import { type Prepared, prepare } from './prepare.ts';
import type { Reporter } from './report/reporter.ts';
import type { RunnerPlace } from './runner-place.ts';

export interface RunOptions {
  readonly inputs: Inputs;
  readonly place: RunnerPlace;
  readonly reporter: Reporter;
  /** Names this step in the ledger. */
  readonly step: () => string;
  readonly announce: () => void;
  readonly keep: (text: string) => void;
  readonly conceal: (text: string) => string;
  /** Aborted when the step is cancelled. */
  readonly signal: AbortSignal;
}

export type RunResult =
  | { readonly kind: 'done'; readonly outcome: Outcome }
  | { readonly kind: 'refused'; readonly problems: readonly string[] };

function operate(parts: Parts, prepared: Prepared, service: string): Promise<Outcome> {
  switch (prepared.operation) {
    case 'sync':
      return sync(parts, prepared);
    case 'lock':
      return lock(parts, prepared.task, prepared.paths, service);
    case 'unlock':
      return unlock(parts, prepared.task, prepared.toRelease, service);
    case 'list-locks':
      return listLocks(parts, prepared.task, prepared.extent);
    case 'register-hook':
      return registerHook(parts, prepared);
    case 'list-workspaces':
      return listWorkspaces(parts);
    case 'list-branches':
      return listBranches(parts, prepared);
  }
}

/** Looks up what can be looked up, and then does what the step is there for. */
export async function run({
  inputs,
  place,
  reporter,
  step,
  announce,
  keep,
  conceal,
  signal,
}: RunOptions): Promise<RunResult> {
  const { connection, task } = inputs;
  const service = connection.baseUrl;
  const ledger = openLedger(place.ledger, conceal);
  reporter.log.debug(`Service ${service}, checkout ${place.checkout}, ledger ${place.ledger}.`);
  const preparation = await prepare(task, { ...place, service, ledger });
  if (!preparation.ok) return { kind: 'refused', problems: preparation.problems };
  const client = connect(connection, place.origin, reporter.log);
  try {
    const parts: Parts = {
      client,
      ledger,
      get step() {
        return step();
      },
      announce,
      keep,
      conceal,
      origin: place.origin,
      stepName: place.stepName,
      sleep,
      signal,
      clock: steadyClock,
      random: Math.random,
      log: reporter.log,
      publish: reporter.publish,
      retries: connection.retries,
      requestTimeoutMs: milliseconds(connection.requestTimeout),
      get locksFile() {
        return place.locksFile(step());
      },
    };
    return { kind: 'done', outcome: await operate(parts, preparation.prepared, service) };
  } finally {
    client.dispose();
  }
}
