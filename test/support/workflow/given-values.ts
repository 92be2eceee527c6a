import { type Scalar, type Scope, textOf, type Value } from './expressions.ts';
import type { Workflow, WorkflowInput } from './workflow-file.ts';

/** Values that a caller passes to a workflow, checked against `workflow_call` (or `workflow_dispatch`). */

const emptyOf = { boolean: false, number: 0, string: '', choice: '', environment: '' };

function typed(name: string, { type }: WorkflowInput, value: Value): Value {
  const wanted = type === 'boolean' || type === 'number' ? type : 'string';
  if (typeof value === wanted) return value;
  throw new Error(`The input ${name} is a ${wanted}, but the value is ${JSON.stringify(value)}.`);
}

function defaultOf(declared: WorkflowInput, scope: Scope): Scalar {
  if (declared.default === undefined) return emptyOf[declared.type];
  return typeof declared.default === 'string' ? textOf(declared.default, scope) : declared.default;
}

/** The `inputs` context. Undeclared inputs are an error, as on GitHub; without declarations, all are accepted. */
export function inputsOf(
  { on }: Workflow,
  given: Readonly<Record<string, Value>>,
  scope: Scope,
): Readonly<Record<string, Value>> {
  const declared = on.workflow_call?.inputs ?? on.workflow_dispatch?.inputs ?? {};
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(declared, name)) throw new Error(`The workflow declares no input ${name}.`);
  }
  return Object.fromEntries(
    Object.entries(declared).map(([name, input]) => {
      const value = given[name];
      if (value === undefined && input.required) throw new Error(`The input ${name} is required.`);
      return [name, typed(name, input, value ?? defaultOf(input, scope))];
    }),
  );
}

/** The `secrets` context. A workflow that is not called has all secrets of its repository. */
export function secretsOf(
  { on }: Workflow,
  given: Readonly<Record<string, string>>,
  githubToken: string,
): Readonly<Record<string, string>> {
  const declared = on.workflow_call?.secrets;
  for (const name of Object.keys(declared === undefined ? {} : given)) {
    if (declared?.[name] === undefined) throw new Error(`The workflow declares no secret ${name}.`);
  }
  for (const [name, { required }] of Object.entries(declared ?? {})) {
    if (required && given[name] === undefined) throw new Error(`The secret ${name} is required.`);
  }
  return { ...given, GITHUB_TOKEN: githubToken };
}
