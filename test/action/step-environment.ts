import { type GetInput, readRawInputs } from '../../src/action/inputs/read.ts';
import type { OperationName } from '../../src/action/inputs/table.ts';
import { loadInputs } from '../../src/action/inputs/task.ts';
import { inputVariable, readActionFile, resolveInputs } from '../support/runner/action-file.ts';

const action = await readActionFile();

export type Given = Readonly<Record<string, string>>;

/** The environment of a step as the runner builds it from `with:` and the defaults of `action.yml`. */
export function stepEnvironment(given: Given, environment: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { values } = resolveInputs(action, given, 'ghs_00000000000000000000');
  return { ...environment, ...Object.fromEntries([...values].map(([name, value]) => [inputVariable(name), value])) };
}

/** Reads an environment like `getInput` of the toolkit. */
export const getInputOf =
  (environment: NodeJS.ProcessEnv): GetInput =>
  (name) =>
    (environment[inputVariable(name)] ?? '').trim();

/** Loads the inputs of a step. */
export function loadStep(given: Given, environment?: NodeJS.ProcessEnv): ReturnType<typeof loadInputs> {
  const itsEnvironment = stepEnvironment(given, environment);
  const getInput = getInputOf(itsEnvironment);
  return loadInputs(readRawInputs(getInput, itsEnvironment), getInput, itsEnvironment);
}

const connection = { 'base-url': 'https://workspaces.example.com/v1', token: 'wsa_0123456789abcdef' };

/** The minimum of inputs for each operation. */
const needed: Readonly<Record<OperationName, Given>> = {
  sync: { workspace: 'game', branch: 'main' },
  lock: { workspace: 'game', path: 'Content/Hero.uasset' },
  unlock: { workspace: 'game', path: 'Content/Hero.uasset' },
  'list-locks': { workspace: 'game' },
  'register-hook': { workspace: 'game', 'hook-url': 'https://ci.example.com/hook' },
  'list-workspaces': {},
  'list-branches': { workspace: 'game' },
  check: { workspace: 'game' },
};

export const rightStep = (operation: OperationName, given: Given = {}): Given => ({
  operation,
  ...connection,
  ...needed[operation],
  ...given,
});

export function inputsOf(given: Given, environment?: NodeJS.ProcessEnv) {
  const loaded = loadStep(given, environment);
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  return loaded.inputs;
}

export function problemsOf(given: Given, environment?: NodeJS.ProcessEnv): readonly string[] {
  const loaded = loadStep(given, environment);
  return loaded.ok ? [] : loaded.problems;
}
