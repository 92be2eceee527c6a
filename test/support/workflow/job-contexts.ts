import type { JobEvent } from '../runner/github-context.ts';
import { someToken, type Variables } from '../runner/job.ts';
import { filled, type Scalar, type Scope, type Status, textOf, type Value } from './expressions.ts';
import type { Workflow, WorkflowInput, WorkflowJob } from './workflow-file.ts';

type Values = Readonly<Record<string, Value>>;
type Texts = Readonly<Record<string, string>>;

export type Conclusion = Status | 'skipped';

/** The values that a job receives from outside. */
export interface GivenContexts {
  readonly inputs?: Values;
  readonly secrets?: Texts;
  readonly vars?: Texts;
  readonly matrix?: Values;
  readonly needs?: Readonly<Record<string, { readonly result: Conclusion; readonly outputs?: Texts }>>;
  readonly event?: JobEvent;
  /** Further fields of these contexts, such as `job.workflow_sha`. */
  readonly contexts?: { readonly github?: Values; readonly job?: Values; readonly runner?: Values };
}

const lowered = (variables: Variables, prefix: string): Texts =>
  Object.fromEntries(
    Object.entries(variables)
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, value]) => [name.slice(prefix.length).toLowerCase(), value]),
  );

/** The status for `success()` and similar functions in the `if:` of a job. */
export function statusOf(needs: GivenContexts['needs'] = {}): Status {
  const results = Object.values(needs).map(({ result }) => result);
  if (results.includes('failure')) return 'failure';
  return results.every((result) => result === 'success') ? 'success' : 'cancelled';
}

/** The contexts that all steps of a job share, built from the given values and the variables of the runner. */
export function jobContexts(workflow: Workflow, definition: WorkflowJob, given: GivenContexts) {
  const { vars = {}, matrix = {}, needs = {} } = given;
  const secrets = secretsOf(workflow, given.secrets ?? {}, someToken);
  const strategy = { 'fail-fast': true, 'job-index': 0, 'job-total': 1, 'max-parallel': 1 };

  const contexts = (variables: Variables) => {
    const event = (given.event?.payload ?? {}) as Values; // A payload is sent as JSON.
    const github = { ...lowered(variables, 'GITHUB_'), event, token: someToken, ...given.contexts?.github };
    const runner = { ...lowered(variables, 'RUNNER_'), ...given.contexts?.runner };
    const inputs = inputsOf(workflow, given.inputs ?? {}, { contexts: { github, vars } });
    return { github, runner, inputs, vars, secrets, needs, matrix, strategy };
  };

  /** `env:` of the workflow and of the job. */
  const env = (variables: Variables): Texts => {
    const { runner: _, ...ofJob } = contexts(variables);
    const { github, inputs } = ofJob;
    const ofWorkflow = filled(workflow.env, { contexts: { github, secrets, inputs, vars } });
    return { ...ofWorkflow, ...filled(definition.env, { contexts: ofJob }) };
  };

  return { contexts, env, secrets };
}

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
