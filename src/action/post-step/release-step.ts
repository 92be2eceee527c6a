import { sleep, steadyClock } from '../../client/time.ts';
import { pluralize } from '../../interface/format.ts';
import { createRecorder, ledgerFile, openLedger, parseLines } from '../../locks/ledger/ledger.ts';
import { cancelledText } from '../../locks/messages.ts';
import { createReader, type RawInputs } from '../inputs/table.ts';
import { endMain, stopRenewal } from '../renewal/processes.ts';
import type { Reporter } from '../report/reporter.ts';
import { joinSome, resultsOutcome } from '../report/results.ts';
import type { StateName } from '../step/context.ts';
import { cancellation, readRunner } from '../step/runner.ts';
import { chartOf } from './chart.ts';
import { readCandidates, releaseAll } from './release.ts';

/**
 * Releases the remaining locks of a step according to the ledger, and reports on all its locks. The task itself is not
 * read from the inputs: the runner evaluates their expressions again, and the values may have changed. `state` is what
 * the step has saved; empty if nothing.
 */
export async function releaseStep(
  step: string,
  state: (name: StateName) => string,
  raw: RawInputs,
  reporter: Reporter,
): Promise<void> {
  const { log, redact } = reporter;
  const cancelled = cancellation().signal;
  const { temporaryFolder, origin } = readRunner(process.env);
  const ledger = openLedger(ledgerFile(temporaryFolder));
  const ending = { ledger, clock: steadyClock, sleep };
  await endMain(ending, state('main'));
  // Renewal stops before any release, so that no lock is renewed after its release.
  await stopRenewal(ending, step, state('renewer'), cancelled);
  const saved = parseLines(state('locks'));
  const candidates = readCandidates(ledger, step, saved, state('requested') !== '');

  if (saved.some((entry) => entry.kind === 'acquired' && entry.outlivesJob)) {
    log.line('The locks of this step outlive the job: `auto-release` is false.');
    return;
  }
  if (candidates.ledgerError !== undefined) log.warn(candidates.ledgerError);
  const nothing = candidates.held.length + candidates.unanswered.length === 0 && candidates.lease === undefined;
  if (nothing && saved.length === 0) {
    if (candidates.ledgerError === undefined) log.line(nothingLeft);
    return;
  }

  // For the post-steps of the job's earlier steps, which may know the same locks.
  const record = createRecorder(ledger, { warn: log.debug });
  const { results, now } = await releaseAll(candidates, { raw, reporter, origin, ledger, record, cancelled });
  const released = results.filter(({ result }) => result === 'released').length;
  const begin = `Released ${pluralize(released, 'lock')} at the end of the job`;
  const outcome = resultsOutcome(results, { main: 'released', begin, now });
  const cancellations = candidates.entries.filter((entry) => entry.kind === 'run-cancelled');
  await reporter.finish(
    'Workspace: locks at the end of the job',
    {
      ...outcome,
      ...lossesOf(outcome, state('on-lost'), cancelledText(cancellations.find((entry) => entry.step === step))),
      ...(results.length === 0 && { sentence: nothingLeft }),
      chart: chartOf(candidates.entries, { step, results, now, redact }),
    },
    // The step itself has rejected an invalid `summary`. Here it means the default.
    createReader(raw).read('summary') !== false,
  );
}

const nothingLeft = 'Nothing was left to release at the end of the job.';

/** Lost locks fail the job, or are one warning. `onLost` was saved with the id of the step. */
function lossesOf({ failures, warnings }: ReturnType<typeof resultsOutcome>, onLost: string, cancelled: string) {
  if (failures.length === 0) return {};
  if (onLost === 'warn') return { failures: [], warnings: [joinSome(failures), ...warnings] };
  return onLost === 'cancel' ? { failures: [...failures, cancelled] } : {};
}
