import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** The `action.yml` of this repository. */
export const ourActionFile = fileURLToPath(new URL('../../../action.yml', import.meta.url));

export interface ActionFile {
  /** The declared inputs, with the text of their default if they have one. */
  readonly inputs: ReadonlyMap<string, string | undefined>;
  readonly main: string;
  readonly post: string | undefined;
}

interface Declared {
  readonly inputs?: Readonly<Record<string, { readonly default?: unknown }>>;
  readonly runs: { readonly main: string; readonly post?: string };
}

/** Reads an `action.yml` of a Node action. */
export async function readActionFile(file: string = ourActionFile): Promise<ActionFile> {
  // The language service checks what is written there.
  const { inputs = {}, runs }: Declared = parse(await readFile(file, 'utf8'));
  return {
    inputs: new Map(Object.entries(inputs).map(([name, { default: text }]) => [name, text?.toString()])),
    main: join(dirname(file), runs.main),
    post: runs.post === undefined ? undefined : join(dirname(file), runs.post),
  };
}

export interface StepInputs {
  readonly values: ReadonlyMap<string, string>;
  /** The warning of the runner about inputs that the action does not declare. */
  readonly warning: string | undefined;
}

/**
 * Merges the inputs of the workflow with the defaults, as actions/runner does in `ActionRunner.cs`. Names are compared
 * without case, and values are not trimmed. A given value, even an empty one, replaces the default, in which an
 * expression can only be that of the token. A declared input with neither is the empty string. An undeclared input is
 * passed on with a warning.
 */
export function resolveInputs(
  { inputs }: ActionFile,
  given: Readonly<Record<string, string>>,
  gitHubToken: string,
): StepInputs {
  const lower = (names: Iterable<string>) => new Set([...names].map((name) => name.toLowerCase()));
  const [declared, present] = [lower(inputs.keys()), lower(Object.keys(given))];
  const defaults = [...inputs]
    .filter(([name]) => !present.has(name.toLowerCase()))
    .map(([name, text = '']): [string, string] => [name, text.replace(/^\$\{\{ github\.token \}\}$/, gitHubToken)]);
  const unexpected = Object.keys(given).filter((name) => !declared.has(name.toLowerCase()));
  const list = (names: Iterable<string>): string => `'${[...names].join("', '")}'`;
  return {
    values: new Map([...Object.entries(given), ...defaults]),
    warning:
      unexpected.length === 0
        ? undefined
        : `Unexpected input(s) ${list(unexpected)}, valid inputs are [${list(inputs.keys())}]`,
  };
}

/** `Handler.cs`: upper case, blanks to underscores, and nothing else; dashes stay. */
export const inputVariable = (name: string): string => `INPUT_${name.replaceAll(' ', '_').toUpperCase()}`;
