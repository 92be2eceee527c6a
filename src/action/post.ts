import { secretsOf } from './inputs/secrets.ts';
import { readKept } from './ledger/kept.ts';
import { getState } from './report/command-files.ts';
import { createReporter } from './report/reporter.ts';

/**
 * Releases what the step has locked and not released. The job fails if one of its locks was lost, unless `on-lost` says
 * otherwise; what cannot be released leaves the result of the job as it is.
 */
async function post(): Promise<void> {
  const step = getState('step');
  // Written before the first lock is asked for: without it, there is nothing to release.
  if (step === '') return;
  const secrets = secretsOf(process.env);
  const reporter = createReporter(secrets);
  try {
    const kept = readKept(getState('locks'));
    if (kept?.handedOn) {
      reporter.log.line('The locks of this step outlive the job: `auto-release` is false.');
      return;
    }
    const { endStep } = await import('./post-step/end-step.ts');
    await endStep({ step, kept, onLost: getState('on-lost'), secrets, reporter, environment: process.env });
  } catch (error) {
    reporter.log.warn(
      `The locks of this step could not be released, and stay until their ttl ends: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

await post();
