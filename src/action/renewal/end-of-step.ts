import { errorMessage } from '../../interface/format.ts';
import { followLedger, type Recorder } from '../../locks/ledger/ledger.ts';
import type { Context } from '../step/context.ts';
import { identifyProcess } from './processes.ts';

export type EndOfStep = ReturnType<typeof watchEndOfStep>;

const pollMs = 250;

/**
 * Ends a step that must stop acquiring: its post-step has already started, or the ledger, which its post-step
 * needs, cannot be written. In a container, the runner signals only its own client, and the step lives on.
 */
export function watchEndOfStep({ ledger, log, saveState, signal }: Context, step: string, onLost: string) {
  const over = new AbortController();
  const follow = followLedger(ledger.file);
  let failure: string | undefined;
  let isSaved = false;

  function look(): void {
    try {
      for (let entries = follow(); entries.length > 0; entries = follow()) {
        if (entries.some((entry) => entry.kind === 'step-ended' && entry.step === step)) over.abort();
      }
    } catch {
      // A ledger that cannot be read now may be readable at the next look.
    }
  }

  const timer = setInterval(look, pollMs).unref();

  /** Saves the step before its first request for a lock: from then on, there may be locks to release. */
  const record: Recorder = (...entries) => {
    try {
      ledger.append(...entries);
    } catch (error) {
      failure ??= errorMessage(error);
      over.abort();
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

  return {
    signal: AbortSignal.any([signal, over.signal]),
    record,
    look,
    /** Why the ledger could not be written; undefined if it could. */
    failure: () => failure,
    stop: () => clearInterval(timer),
  };
}
