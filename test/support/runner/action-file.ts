import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** The `action.yml` of this repository. */
export const ourActionFile = fileURLToPath(new URL('../../../action.yml', import.meta.url));

export interface ActionFile {
  /** The declared inputs, with the text of their default where they have one. */
  readonly inputs: ReadonlyMap<string, string | undefined>;
  /** The version in `node24`. */
  readonly nodeMajor: number;
  readonly main: string;
  readonly post: string | undefined;
}

/** Values for the expressions in the defaults, such as `github.token`. */
export type Expressions = Readonly<Record<string, string>>;

const expression = /\$\{\{\s*(.*?)\s*\}\}/g;

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

function field(of: Json | undefined, name: string): Json | undefined {
  return of !== null && typeof of === 'object' && !Array.isArray(of) && Object.hasOwn(of, name)
    ? // Not an array, as was asked: the type check alone does not take that into account for a readonly one.
      (of as { readonly [name: string]: Json })[name]
    : undefined;
}

const fieldNames = (of: Json | undefined): readonly string[] =>
  of !== null && typeof of === 'object' ? Object.keys(of) : [];

const isText = (value: Json | undefined): value is string => typeof value === 'string';

/** Where the file has an expression, as paths such as `inputs.token.description`. */
function expressionsIn(value: Json | undefined, path: string): readonly string[] {
  if (isText(value)) return value.search(expression) < 0 ? [] : [path];
  return fieldNames(value).flatMap((name) => expressionsIn(field(value, name), path === '' ? name : `${path}.${name}`));
}

/**
 * Reads an `action.yml` of a Node action.
 *
 * The runner evaluates expressions wherever they stand, and a description has no context for them: it then refuses the
 * whole file (actions/runner, `ActionManifestManager.cs`). No linter knows that, so it is an error here.
 */
export async function readActionFile(file: string = ourActionFile): Promise<ActionFile> {
  const content: Json = parse(await readFile(file, 'utf8'));
  const [misplaced] = expressionsIn(content, '').filter((path) => !/^inputs\.[^.]+\.default$/.test(path));
  if (misplaced !== undefined) {
    throw new Error(`${file}: the runner refuses an action.yml with an expression in ${misplaced}.`);
  }
  const inputs = field(content, 'inputs');
  const runs = field(content, 'runs');
  const main = field(runs, 'main');
  const post = field(runs, 'post');
  const [, nodeMajor] = /^node(\d+)$/.exec(String(field(runs, 'using'))) ?? [];
  if (nodeMajor === undefined || !isText(main)) throw new Error(`${file} is not the file of a Node action.`);
  const path = (name: string): string => join(dirname(file), name);
  return {
    inputs: new Map(
      fieldNames(inputs).map((name) => {
        const text = field(field(inputs, name), 'default');
        return [name, text === undefined || text === null ? undefined : String(text)];
      }),
    ),
    nodeMajor: Number(nodeMajor),
    main: path(main),
    post: isText(post) ? path(post) : undefined,
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
  /** What the runner says of inputs that the action does not declare. */
  readonly warnings: readonly string[];
}

/**
 * Joins what the workflow gives with the defaults, as actions/runner does in `ActionRunner.cs`: names are compared
 * without case; a value is passed on as it is, not trimmed; one that is given, if empty, hides the default; a declared
 * input with neither is the empty string; one that is not declared is passed on, with a warning.
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
