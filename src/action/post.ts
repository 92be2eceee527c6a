import { loadInputs } from './inputs/load.ts';
import { secretsOf } from './inputs/secrets.ts';
import { openLedger } from './ledger/ledger.ts';
import { readClaims } from './post-step/claims.ts';
import { getState } from './report/command-files.ts';
import { createReporter } from './report/reporter.ts';
import { createRedactor } from './report/safe-text.ts';
import { runnerPlace } from './runner-place.ts';

/** Releases what the step has locked and not released. Whatever happens here, the result of the job stays as it is. */
async function post(): Promise<void> {
  const step = getState('step');
  // Written before the first lock is asked for: without it, there is nothing to release.
  if (step === '') return;
  const secrets = secretsOf(process.env);
  const reporter = createReporter(secrets);
  try {
    const loaded = loadInputs(process.env);
    if (!loaded.ok || loaded.inputs.task.operation !== 'lock') return;
    const { connection, task, summary } = loaded.inputs;
    if (!task.autoRelease) {
      reporter.log.line('The locks of this step outlive the job: `auto-release` is false.');
      return;
    }
    const place = runnerPlace(process.env);
    const ledger = openLedger(place.ledger, createRedactor(secrets));
    const claims = readClaims({
      ledger,
      step,
      locksFile: place.locksFile(step),
      service: connection.baseUrl,
      workspace: task.workspace,
    });
    for (const trouble of claims.troubles) reporter.log.warn(trouble);
    if (claims.held.length === 0 && claims.unclear.length === 0) {
      if (claims.troubles.length === 0) reporter.log.line('Nothing is left to release.');
      return;
    }
    const { release } = await import('./post-step/release.ts');
    const told = await release({ connection, task, claims, ledger, step, origin: place.origin, log: reporter.log });
    reporter.tellRelease(told, summary);
  } catch (error) {
    reporter.log.warn(
      `The locks of this step could not be released, and stay until their ttl ends: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

await post();
