import * as core from '@actions/core';
import { readRawInputs, secretsIn } from './inputs/read.ts';
import { runToEnd } from './process.ts';
import { createReporter } from './report/reporter.ts';

/**
 * Releases the locks of the step. Fails the job if one of them was lost, unless `on-lost` is `warn`. A lock that cannot
 * be released does not change the result.
 */
async function post(): Promise<void> {
  const step = core.getState('step');
  // Saved only by steps that lock.
  if (step === '') return;
  const raw = readRawInputs(core.getInput, process.env);
  const reporter = createReporter(secretsIn(raw));
  try {
    const { releaseStep } = await import('./post-step/release.ts');
    await releaseStep(step, core.getState, raw, reporter);
  } catch (error) {
    const reason = reporter.explain(error).replace(/\.$/, '');
    reporter.log.warn(
      `Could not release the locks of this step: ${reason}. They stay until their \`ttl\` expires, unless someone releases them by hand.`,
    );
  }
}

runToEnd(post);
