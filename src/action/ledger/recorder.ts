import type { Log } from '../log.ts';
import type { Entry } from './entry.ts';
import type { Ledger } from './ledger.ts';

export type Recorder = (entry: Entry) => void;

/** Writes to the ledger; when that fails, says so once and goes on: a lock that is wanted is not given up for it. */
export function createRecorder(ledger: Ledger, log: Log): Recorder {
  let failed = false;
  return (entry) => {
    try {
      ledger.append(entry);
    } catch (error) {
      if (failed) return;
      failed = true;
      const why = error instanceof Error ? error.message : String(error);
      log.warn(
        `The ledger of this job's locks cannot be written (${why}). If a step is killed before it is done, the locks it was about to take or release can stay until their ttl ends.`,
      );
    }
  };
}
