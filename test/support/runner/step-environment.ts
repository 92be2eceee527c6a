import { delimiter } from 'node:path';
import { inputVariable } from './action-file.ts';

/** The sources of the variables of a main or a post; later ones take precedence. */
interface StepEnvironment {
  /** The environment of the runner itself: PATH, HOME and variables of the test, such as a proxy. */
  readonly runner: Readonly<Record<string, string>>;
  /** The variables that earlier steps wrote to `GITHUB_ENV`. */
  readonly exported: ReadonlyMap<string, string>;
  /** `env:` of the step. */
  readonly step: Readonly<Record<string, string>>;
  readonly state: ReadonlyMap<string, string>;
  readonly inputs: ReadonlyMap<string, string>;
  /** The paths that earlier steps wrote to `GITHUB_PATH`, the latest last. */
  readonly prependedPaths: readonly string[];
  /** `GITHUB_*` and `RUNNER_*`, with the paths of the command files. */
  readonly context: Readonly<Record<string, string>>;
}

/**
 * The environment of a process, merged in the order of actions/runner: `ActionRunner.cs`, then `Handler.cs`,
 * `NodeScriptActionHandler.cs` and `ProcessInvoker.cs`.
 */
export function environmentOf(from: StepEnvironment): Readonly<Record<string, string>> {
  const { runner, exported, step, state, inputs, prependedPaths, context } = from;
  const workflow: Readonly<Record<string, string>> = { ...runner, ...Object.fromEntries(exported), ...step };
  const path = [...prependedPaths.toReversed(), workflow['PATH'] ?? ''].filter((part) => part !== '');
  return {
    CI: 'true',
    ...workflow,
    ...Object.fromEntries([...state].map(([name, value]) => [`STATE_${name}`, value])),
    ...Object.fromEntries([...inputs].map(([name, value]) => [inputVariable(name), value])),
    ...(path.length > 0 && { PATH: path.join(delimiter) }),
    ...context,
    GITHUB_ACTIONS: 'true',
  };
}
