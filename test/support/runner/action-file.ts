import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';

/** The `action.yml` of this repository. */
export const ourActionFile = fileURLToPath(new URL('../../../action.yml', import.meta.url));

export interface ActionFile {
  /** The declared inputs, with the text of their default if they have one. */
  readonly inputs: ReadonlyMap<string, string | undefined>;
  /** The version in `node24`. */
  readonly nodeMajor: number;
  readonly main: string;
  readonly post: string | undefined;
}

/** Values for the expressions in the defaults, such as `github.token`. */
export type Expressions = Readonly<Record<string, string>>;

const expression = /\$\{\{\s*(.*?)\s*\}\}/g;

const actionFile = z.looseObject({
  inputs: z
    .record(z.string(), z.looseObject({ default: z.union([z.string(), z.number(), z.boolean(), z.null()]).optional() }))
    .default({}),
  runs: z.looseObject({
    using: z.templateLiteral(['node', z.number()]),
    main: z.string(),
    post: z.string().optional(),
  }),
});

/** Reads an `action.yml` of a Node action. */
export async function readActionFile(file: string = ourActionFile): Promise<ActionFile> {
  const { inputs, runs } = actionFile.parse(parse(await readFile(file, 'utf8')));
  return {
    inputs: new Map(Object.entries(inputs).map(([name, { default: text }]) => [name, text?.toString()])),
    nodeMajor: Number(runs.using.slice('node'.length)),
    main: join(dirname(file), runs.main),
    post: runs.post === undefined ? undefined : join(dirname(file), runs.post),
  };
}

function evaluate(text: string, expressions: Expressions): string {
  return text.replaceAll(expression, (_, name: string) => {
    const value = expressions[name];
    if (value === undefined) throw new Error(`The test gives no value for the expression \${{ ${name} }}.`);
    return value;
  });
}

export interface StepInputs {
  readonly values: ReadonlyMap<string, string>;
  /** The warnings of the runner about inputs that the action does not declare. */
  readonly warnings: readonly string[];
}

/**
 * Merges the inputs of the workflow with the defaults, as actions/runner does in `ActionRunner.cs`. Names are compared
 * without case, and values are not trimmed. A given value, even an empty one, replaces the default. A declared input
 * with neither is the empty string. An undeclared input is passed on with a warning.
 */
export function resolveInputs(
  action: ActionFile,
  given: Readonly<Record<string, string>>,
  expressions: Expressions,
): StepInputs {
  const lower = (name: string): string => name.toLowerCase();
  const declared = new Set([...action.inputs.keys()].map(lower));
  const present = new Set(Object.keys(given).map(lower));
  const defaults = [...action.inputs]
    .filter(([name]) => !present.has(lower(name)))
    .map(([name, text]): [string, string] => [name, evaluate(text ?? '', expressions)]);
  const unexpected = Object.keys(given).filter((name) => !declared.has(lower(name)));
  const list = (names: readonly string[]): string => `'${names.join("', '")}'`;
  return {
    values: new Map([...Object.entries(given), ...defaults]),
    warnings:
      unexpected.length === 0
        ? []
        : [`Unexpected input(s) ${list(unexpected)}, valid inputs are [${list([...action.inputs.keys()])}]`],
  };
}

/** `Handler.cs`: upper case, blanks to underscores, and nothing else; dashes stay. */
export const inputVariable = (name: string): string => `INPUT_${name.replaceAll(' ', '_').toUpperCase()}`;

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
  /** `GITHUB_*` and `RUNNER_*`, with the paths of the command files. */
  readonly context: Readonly<Record<string, string>>;
}

/**
 * The environment of a process, merged in the order of actions/runner: `ActionRunner.cs`, then `Handler.cs`,
 * `NodeScriptActionHandler.cs` and `ProcessInvoker.cs`.
 */
export function environmentOf(from: StepEnvironment): Readonly<Record<string, string>> {
  const { runner, exported, step, state, inputs, context } = from;
  return {
    CI: 'true',
    ...runner,
    ...Object.fromEntries(exported),
    ...step,
    ...Object.fromEntries([...state].map(([name, value]) => [`STATE_${name}`, value])),
    ...Object.fromEntries([...inputs].map(([name, value]) => [inputVariable(name), value])),
    ...context,
    GITHUB_ACTIONS: 'true',
  };
}
