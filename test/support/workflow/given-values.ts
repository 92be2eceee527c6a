import { type Scalar, type Scope, textOf, type Value } from './expressions.ts';
import type { Workflow, WorkflowInput } from './workflow-file.ts';

/** What a caller gives to a workflow, held to what `workflow_call` (or `workflow_dispatch`) declares. */

const emptyOf = { boolean: false, number: 0, string: '', choice: '', environment: '' };

function typed(name: string, { type }: WorkflowInput, value: Value): Value {
  const wanted = type === 'boolean' || type === 'number' ? type : 'string';
  if (typeof value === wanted) return value;
  throw new Error(`The input ${name} is a ${wanted}, and ${JSON.stringify(value)} is none.`);
}

function defaultOf(declared: WorkflowInput, scope: Scope): Scalar {
  if (declared.default === undefined) return emptyOf[declared.type];
  return typeof declared.default === 'string' ? textOf(declared.default, scope) : declared.default;
}

/** The `inputs` context. One that was given and not declared is an error on GitHub too; nothing declared, all is taken. */
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

/** The `secrets` context. A workflow that is not called has those of its repository: all that are given. */
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
