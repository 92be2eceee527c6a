import { ServiceError, steadyClock } from '../../client/client.ts';
import { connect } from '../connect.ts';
import type { Connection } from '../inputs/connection.ts';
import type { LockTask } from '../inputs/task.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { createKeeper } from '../locks/keeper.ts';
import type { Log } from '../log.ts';
import type { Claims } from './claims.ts';
import { releaseClaims } from './release-claims.ts';
import { type Told, tell } from './told.ts';

/** The post-step ends within 60 s; the rest is for starting, telling and ending. */
const patienceMs = 50_000;

/** A network that goes away comes back or it does not: each attempt is short, and there are as many as fit. */
const longestAttempt = { seconds: 10 };
const attempts = 1_000;

const isServiceError = (error: unknown): error is ServiceError => error instanceof ServiceError;

export interface ReleaseOptions {
  readonly connection: Connection;
  readonly task: LockTask;
  readonly claims: Claims;
  readonly ledger: Ledger;
  readonly step: string;
  readonly origin: string | undefined;
  readonly log: Log;
}

/** Releases what the step has left, and says what became of it. */
export async function release({ connection, task, claims, ledger, step, origin, log }: ReleaseOptions): Promise<Told> {
  const { requestTimeout } = connection;
  const patient: Connection = {
    ...connection,
    retries: attempts,
    requestTimeout: requestTimeout.seconds < longestAttempt.seconds ? requestTimeout : longestAttempt,
  };
  // One line for the first trouble; the others would be hundreds of the same.
  let told = false;
  const quiet: Log = {
    ...log,
    line: (text) => {
      if (told) log.debug(text);
      else log.line(text);
      told = true;
    },
  };
  const client = connect(patient, origin, quiet);
  try {
    const keeper = createKeeper(
      { client, ledger, log, step, origin, announce: () => undefined },
      connection.baseUrl,
      task,
    );
    const within = { deadline: steadyClock() + patienceMs };
    const settled = await releaseClaims(client, keeper, task, claims, within, isServiceError);
    return tell(settled, client.serverNow());
  } finally {
    client.dispose();
  }
}
