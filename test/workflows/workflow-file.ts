import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { Scalar } from './expressions.ts';

type Scalars = Readonly<Record<string, Scalar>>;

interface Defaults {
  readonly run?: { readonly shell?: string; readonly 'working-directory'?: string };
}

export interface WorkflowStep {
  readonly id?: string;
  readonly name?: string;
  readonly if?: Scalar;
  readonly uses?: string;
  readonly run?: string;
  readonly shell?: string;
  readonly 'working-directory'?: string;
  readonly with?: Scalars;
  readonly env?: Scalars;
  readonly 'continue-on-error'?: Scalar;
}

export interface WorkflowJob {
  readonly if?: Scalar;
  readonly permissions?: unknown;
  readonly env?: Scalars;
  readonly defaults?: Defaults;
  readonly outputs?: Scalars;
  readonly uses?: string;
  readonly with?: Scalars;
  readonly secrets?: 'inherit' | Scalars;
  readonly steps?: readonly WorkflowStep[];
}

type Declared = Readonly<Record<string, { readonly required?: boolean; readonly default?: Scalar }>>;

/** The parts of a workflow that the runner in this folder supports. */
export interface Workflow {
  readonly name?: string;
  readonly on: {
    readonly workflow_call?: {
      readonly inputs?: Declared;
      readonly secrets?: Declared;
      readonly outputs?: Readonly<Record<string, { readonly value: Scalar }>>;
    };
  };
  readonly permissions?: unknown;
  readonly env?: Scalars;
  readonly defaults?: Defaults;
  readonly jobs: Readonly<Record<string, WorkflowJob>>;
}

// The linters and the language service check each workflow against its schema.
export const parseWorkflow = (text: string): Workflow => parse(text) as Workflow;

/** The path of a workflow such as `ci.yml`. */
export const workflowFile = (name: string): string =>
  fileURLToPath(new URL(`../../.github/workflows/${name}`, import.meta.url));

/** Reads a workflow in `.github/workflows/` by its file name. */
export const readWorkflow = async (name: string): Promise<Workflow> =>
  parseWorkflow(await readFile(workflowFile(name), 'utf8'));

/** The inputs or secrets of a call with the defaults of the others. An undeclared or missing one fails, as on GitHub. */
export function calledWith<Value>(
  declared: Declared,
  given: Readonly<Record<string, Value>>,
): Readonly<Record<string, Value | Scalar>> {
  for (const name of Object.keys(given)) {
    if (declared[name] === undefined) throw new Error(`The workflow does not declare ${name}.`);
  }
  return Object.fromEntries(
    Object.entries(declared).map(([name, { required = false, default: otherwise }]) => {
      if (required && given[name] === undefined) throw new Error(`The workflow needs ${name}.`);
      return [name, given[name] ?? otherwise ?? ''];
    }),
  );
}
