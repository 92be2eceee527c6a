import { createRedactor } from '../interface/redact.ts';
import { loadInputs } from './inputs/load.ts';
import { secretsOf } from './inputs/secrets.ts';
import { failed } from './outcome.ts';
import { saveState } from './report/command-files.ts';
import { createReporter } from './report/reporter.ts';
import { runnerPlace } from './runner-place.ts';

/** The runner sends SIGINT when a job is cancelled, and SIGTERM when that was not enough. */
function cancellation(): AbortSignal {
  const cancelled = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => cancelled.abort());
  return cancelled.signal;
}

async function main(): Promise<void> {
  const secrets = secretsOf(process.env);
  const conceal = createRedactor(secrets);
  const reporter = createReporter(secrets, conceal);
  const loaded = loadInputs(process.env);
  if (!loaded.ok) {
    reporter.refuse(loaded.problems);
    return;
  }
  const { inputs } = loaded;
  const { operation } = inputs.task;
  const [unused, ...more] = inputs.unused.map((name) => `\`${name}\``);
  if (unused !== undefined) {
    const what = more.length === 0 ? `Input ${unused} is` : `Inputs ${[unused, ...more].join(', ')} are`;
    reporter.log.warn(`${what} not used by \`operation: ${operation}\`.`);
  }

  let name: string | undefined;
  // Made when it is asked for: only a lock is taken in its name, and Node loads cryptography for it.
  const step = (): string => {
    name ??= crypto.randomUUID();
    return name;
  };
  const announce = (): void => {
    saveState('step', step());
    // The runner evaluates the inputs of the post-step anew: what counts is what the step was told.
    if (inputs.task.operation === 'lock') saveState('on-lost', inputs.task.onLost);
    reporter.log.debug(`The ledger knows this step as ${step()}.`);
  };
  const keep = (text: string): void => saveState('locks', text);
  const signal = cancellation();
  const title = `Workspace: ${operation}`;
  try {
    // What needs the network is loaded only now: a step that is told of a wrong input does not wait for it.
    const { run } = await import('./run.ts');
    const place = runnerPlace(process.env);
    const result = await run({ inputs, place, reporter, step, announce, keep, signal, conceal });
    if (result.kind === 'refused') reporter.refuse(result.problems);
    else reporter.finish(title, result.outcome, inputs.summary);
  } catch (error) {
    const { message, stack = '' } = error instanceof Error ? error : new Error(String(error));
    for (const line of stack.split('\n')) reporter.log.debug(line);
    reporter.finish(title, failed({}, message), inputs.summary);
  }
}

await main();
