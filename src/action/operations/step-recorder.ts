import { errorMessage } from '../../interface/format.ts';
import type { Recorder } from '../../locks/ledger/ledger.ts';
import type { OnLost } from '../inputs/parse.ts';
import { identifyProcess } from '../renewal/processes.ts';
import type { Context } from '../step/context.ts';

/**
 * Saves the step before its first request for a lock: from then on, there may be locks to release. Ends a step whose
 * ledger cannot be written.
 */
export function createStepRecorder(
  { ledger, log, saveState, cancel }: Context,
  step: string,
  onLost: OnLost,
): Recorder {
  let isSaved = false;
  return (...entries) => {
    try {
      ledger.append(...entries);
    } catch (error) {
      cancel(new LedgerFailure(errorMessage(error)));
      return;
    }
    if (isSaved || !entries.some(({ kind }) => kind === 'intent' || kind === 'lease')) return;
    isSaved = true;
    saveState('step', step);
    saveState('main', JSON.stringify(identifyProcess(process.pid)));
    // The runner evaluates the inputs again for the post-step, but the value in this step counts.
    saveState('on-lost', onLost);
    log.debug(`The id of this step in the ledger is ${step}.`);
  };
}

/** The reason to end a step that cannot write the ledger: its post-step needs it. */
export class LedgerFailure extends Error {}
