import './node-version.ts';

import * as core from '@actions/core';
import { InputError, readRawInputs, secretsIn, unusedText, wantsLedger } from './inputs/table.ts';
import type { Task } from './inputs/task.ts';
import { loadInputs } from './inputs/task.ts';
import type { Renewer } from './renewal/renewer.ts';
import { errorText, stackLines } from './report/error-text.ts';
import { failed, type Outcome } from './report/outcome.ts';
import { createReporter } from './report/reporter.ts';
import type { Context } from './step/context.ts';
import { readRunner } from './step/runner.ts';

await main();
// Everything is written, and taking Node down piece by piece would take longer.
process.exit();

async function main(): Promise<void> {
  const given = readRawInputs(core.getInput, process.env);
  const reporter = createReporter(secretsIn(given));
  const { raw, missing } = wantsLedger(given)
    ? (await import('./inputs/job-workspace.ts')).findJobWorkspace(given, readRunner(process.env).temporaryFolder)
    : { raw: given };
  const loaded = loadInputs(raw, core.getInput, process.env, missing);
  if (!loaded.ok) {
    reporter.failEarly(loaded.problems);
    return;
  }
  const { connection, task, summary, unused } = loaded.inputs;
  if (unused.length > 0) reporter.log.warn(unusedText(unused, task.operation));

  const title = `Workspace: ${task.operation}`;
  try {
    const renewer = needsRenewer(task) ? (await import('./renewal/renewer.ts')).startRenewer() : undefined;
    const { createContext } = await import('./step/context.ts');
    const context = createContext(connection, reporter, core.saveState);
    if (task.operation !== 'check' && hasLosses(context)) {
      (await import('./operations/job-locks.ts')).warnOfLostLocks(context);
    }
    const outcome = await run(context, task, renewer);
    await reporter.finish(title, outcome, summary, context.client.serverNow());
  } catch (error) {
    if (error instanceof InputError) {
      reporter.failEarly(error.problems);
      return;
    }
    for (const line of stackLines(error)) reporter.log.debug(line);
    await reporter.finish(title, failed({}, errorText(error)), summary);
  }
}

/** A step that may wait for hours starts the process later: until then it would only use memory. */
function needsRenewer(task: Task): boolean {
  return task.operation === 'lock' && task.renew && task.wait.seconds === 0;
}

/** `check` fails for those that it checks. */
function hasLosses({ ledger }: Context): boolean {
  return ledger.read().entries.some(({ kind }) => kind === 'lost');
}

/** Each operation, and the network code with it, is loaded on demand: reporting an invalid input needs neither. */
async function run(context: Context, task: Task, renewer?: Renewer): Promise<Outcome> {
  switch (task.operation) {
    case 'sync':
      return (await import('./operations/sync.ts')).sync(context, task);
    case 'lock':
      return (await import('./operations/lock.ts')).lock(context, task, renewer);
    case 'unlock':
      return (await import('./operations/unlock.ts')).unlock(context, task);
    case 'list-locks':
      return (await import('./operations/list-locks.ts')).listLocks(context, task);
    case 'register-hook':
      return (await import('./operations/register-hook.ts')).registerHook(context, task);
    case 'list-workspaces':
      return (await import('./operations/list-named.ts')).listWorkspaces(context);
    case 'list-branches':
      return (await import('./operations/list-named.ts')).listBranches(context, task);
    case 'check':
      return (await import('./operations/check.ts')).check(context, task);
  }
}
