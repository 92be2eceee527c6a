import { sleep, steadyClock } from '../../client/client.ts';
import { connect } from '../connect.ts';
import type { Connection } from '../inputs/connection.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { createRecorder } from '../ledger/recorder.ts';
import { createKeeper } from '../locks/keeper.ts';
import { windingUp } from '../locks/winding-up.ts';
import type { Log } from '../log.ts';
import type { Claims } from './claims.ts';
import { releaseClaims, type Settled } from './release-claims.ts';

/** The post-step ends within 60 s; the rest is for starting, telling and ending, also on a machine that is slow. */
export const patienceMs = 45_000;

/** A network that goes away comes back or it does not: each attempt is short, and there are as many as fit. */
export const longestAttempt = { seconds: 10 };
export const attempts = 1_000;

export interface ReleaseOptions {
  readonly connection: Connection;
  readonly claims: Claims;
  readonly ledger: Ledger;
  readonly step: string;
  readonly origin: string | undefined;
  readonly log: Log;
  /** Aborted when the post-step itself is cancelled. */
  readonly cancelled: AbortSignal;
}

export interface ReleaseResult {
  readonly settled: readonly Settled[];
  /** By the clock of the service. */
  readonly now: number;
}

/** Of many requests in trouble one is enough to tell of while they are tried again: at the end all of it is told. */
function quiet(log: Log): Log {
  let told = false;
  return {
    ...log,
    line(text) {
      if (told) log.debug(text);
      else log.line(text);
      told = true;
    },
  };
}

/** Releases what the step has left. */
export async function release(options: ReleaseOptions): Promise<ReleaseResult> {
  const { connection, claims, ledger, step, origin, log, cancelled } = options;
  const { requestTimeout } = connection;
  const patient: Connection = {
    ...connection,
    retries: attempts,
    requestTimeout: requestTimeout.seconds < longestAttempt.seconds ? requestTimeout : longestAttempt,
  };
  const client = connect(patient, origin, quiet(log));
  const within = windingUp(steadyClock, patienceMs, cancelled);
  try {
    const parts = { client, step, origin, clock: steadyClock, sleep, random: Math.random };
    const keeper = createKeeper(
      parts,
      // Nobody comes after the post-step to read what it writes.
      createRecorder(ledger, { ...log, warn: log.debug }),
    );
    const settled = await releaseClaims({ ...parts, keeper }, connection.baseUrl, claims, within);
    return { settled, now: client.serverNow() };
  } finally {
    within.lift();
    client.dispose();
  }
}
