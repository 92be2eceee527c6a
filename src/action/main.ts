import * as core from '@actions/core';
import { InputError, readRawInputs, secretsIn, wantsLedger } from './inputs/read.ts';
import { loadInputs, type Task } from './inputs/task.ts';
import { runToEnd } from './process.ts';
import type { Renewer } from './renewal/renewer.ts';
import { failed, type Outcome } from './report/outcome.ts';
import { createReporter } from './report/reporter.ts';
import type { Context } from './step/context.ts';
import { readRunner } from './step/runner.ts';

runToEnd(main);

async function main(): Promise<void> {
  const given = readRawInputs(core.getInput, process.env);
  const reporter = createReporter(secretsIn(given));
  const raw = wantsLedger(given)
    ? (await import('./inputs/job-workspace.ts')).withJobWorkspace(given, readRunner(process.env).temporaryFolder)
    : given;
  const loaded = loadInputs(raw, core.getInput, process.env);
  if (!loaded.ok) {
    reporter.failEarly(loaded.problems);
    return;
  }
  const { connection, task, summary, unused } = loaded.inputs;
  if (unused !== undefined) reporter.log.warn(unused);

  const title = `Workspace: ${task.operation}`;
  try {
    // Node takes longer to start than the service takes to respond, so the process that renews locks starts first.
    const renews = task.operation === 'lock' && task.renew;
    const renewer = renews ? (await import('./renewal/renewer.ts')).startRenewer() : undefined;
    const { createContext } = await import('./step/context.ts');
    const context = createContext(connection, reporter, core.saveState);
    // `check` itself fails for each lock that it finds lost.
    if (task.operation !== 'check' && context.ledger.read().entries.some(({ kind }) => kind === 'lost')) {
      (await import('./operations/job-locks.ts')).warnOfLostLocks(context);
    }
    const outcome = await runOperation(context, task, renewer);
    await reporter.finish(title, outcome, summary);
  } catch (error) {
    if (error instanceof InputError) {
      reporter.failEarly(error.problems);
      return;
    }
    await reporter.finish(title, failed({}, reporter.explain(error)), summary);
  }
}

/** Loads each operation, and with it the network code, on demand: reporting an invalid input needs neither. */
async function runOperation(context: Context, task: Task, renewer?: Renewer): Promise<Outcome> {
  switch (task.operation) {
    case 'sync':
      return (await import('./operations/sync.ts')).sync(context, task);
    case 'lock': {
      const { lock } = await import('./operations/lock.ts');
      // The process ends if it has received no task.
      return lock(context, task, renewer).finally(() =>
        renewer?.then(({ child }) => child.stdin.end()).catch(() => {}),
      );
    }
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
