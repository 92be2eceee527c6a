import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { JobEvent } from '../support/runner/github-context.ts';
import { type Job, type JobOptions, someToken, type Variables } from '../support/runner/job.ts';
import { startJob } from '../support/runner/start-job.ts';
import type { RunningStep, StepResult } from '../support/runner/step.ts';
import type { Command } from '../support/runner/step-process.ts';
import { conditionHolds, filled, isTrue, type Scope, type Status, textOf, type Value } from './expressions.ts';
import { calledWith, readWorkflow, type Workflow, type WorkflowJob, type WorkflowStep } from './workflow-file.ts';

type Texts = Readonly<Record<string, string>>;

type Conclusion = Status | 'skipped';

export interface WorkflowJobOptions extends Pick<JobOptions, 'env' | 'run'> {
  /** The workflow, or the name of a file in `.github/workflows/`. */
  readonly workflow: Workflow | string;
  /** Required if the workflow has several jobs. */
  readonly job?: string;
  /** Replacements for the actions that are not ours, by their name such as `actions/checkout`. */
  readonly uses?: Readonly<Record<string, UsesHandler>>;
  readonly inputs?: Readonly<Record<string, Value>>;
  readonly secrets?: Texts;
  readonly vars?: Texts;
  readonly needs?: Readonly<Record<string, { readonly result: Conclusion; readonly outputs?: Texts }>>;
  readonly event?: JobEvent;
}

/** A step with an action that is not ours. */
export interface UsedStep {
  readonly job: Job;
  readonly with: Texts;
}

/** Replaces an action. If it throws, the step fails with that message. */
export type UsesHandler = (step: UsedStep) => Promise<unknown>;

/** The result of a step. */
interface Ran extends Pick<StepResult, 'outputs' | 'log' | 'annotations' | 'summary'> {
  readonly conclusion: Conclusion;
}

interface WorkflowStepResult extends Ran {
  readonly id: string | undefined;
  readonly name: string;
  /** The result before `continue-on-error` is applied. */
  readonly outcome: Conclusion;
}

export type WorkflowJobResult = Awaited<ReturnType<typeof runWorkflowJob>>;

const nothingRan = { outputs: {}, log: '', annotations: [], summary: '' };

const nameOf = (step: WorkflowStep, scope: Scope): string => {
  const [line = ''] = (step.uses ?? step.run ?? '').split('\n');
  return step.name === undefined ? `Run ${line}` : textOf(step.name, scope);
};

function chooseJob({ jobs }: Workflow, name: string | undefined): readonly [name: string, job: WorkflowJob] {
  const [only, ...others] = Object.entries(jobs);
  const chosen = name === undefined && others.length === 0 ? only : Object.entries(jobs).find(([id]) => id === name);
  if (chosen === undefined) throw new Error(`Which job is meant? There are: ${Object.keys(jobs).join(', ')}.`);
  return chosen;
}

/** Our action: in the repository and at the commit of the workflow itself, or by its name at a version. */
const isOurs = (uses: string): boolean => /^(\$\/dist$|[\w-]+\/workspace-automation@)/.test(uses);

const contextOf = (variables: Variables, prefix: string): Texts =>
  Object.fromEntries(
    Object.entries(variables)
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, value]) => [name.slice(prefix.length).toLowerCase(), value]),
  );

/** The status for `success()` and similar functions in the `if:` of a job. */
function statusOf(needs: NonNullable<WorkflowJobOptions['needs']>): Status {
  const results = Object.values(needs).map(({ result }) => result);
  if (results.includes('failure')) return 'failure';
  return results.every((result) => result === 'success') ? 'success' : 'cancelled';
}

/** The contexts that all steps of a job share. */
function contextsOf({ on }: Workflow, options: WorkflowJobOptions) {
  const { inputs = {}, secrets = {}, vars = {}, needs = {}, event } = options;
  const call = on.workflow_call;
  const given = {
    inputs: call ? calledWith(call.inputs ?? {}, inputs) : inputs,
    secrets: { ...(call ? calledWith(call.secrets ?? {}, secrets) : secrets), GITHUB_TOKEN: someToken },
    ...{ vars, needs },
  };
  return (variables: Variables) => ({
    ...given,
    // A payload is sent as JSON.
    github: { ...contextOf(variables, 'GITHUB_'), event: (event?.payload ?? {}) as Value, token: someToken },
    runner: contextOf(variables, 'RUNNER_'),
  });
}

/**
 * Runs one job of a workflow as the runner does: expressions, conditions, the layers of `env:`, shells, the files that
 * steps write, our action as its bundle, and finally the posts. It does not support containers, services, composite
 * actions, a matrix and `hashFiles`, and ignores time limits, permissions and concurrency.
 */
export async function startWorkflowJob(options: WorkflowJobOptions) {
  const workflow = typeof options.workflow === 'string' ? await readWorkflow(options.workflow) : options.workflow;
  const [jobId, definition] = chooseJob(workflow, options.job);
  const { uses = {}, needs = {} } = options;
  const handlerOf = ({ uses: name = '' }: WorkflowStep): UsesHandler | undefined => uses[name.split('@')[0] ?? ''];
  for (const step of definition.steps ?? []) {
    if (step.uses === undefined || isOurs(step.uses) || handlerOf(step) !== undefined) continue;
    throw new Error(`The test says nothing of the action ${step.uses}.`);
  }
  // Inputs and secrets are compared with the declared ones before any folders exist.
  const contexts = contextsOf(workflow, options);
  const jobEnv = (variables: Variables): Texts => {
    const { runner: _, ...ofJob } = contexts(variables);
    const { needs: __, ...ofWorkflow } = ofJob;
    return { ...filled(workflow.env, { contexts: ofWorkflow }), ...filled(definition.env, { contexts: ofJob }) };
  };
  const job = await startJob({
    ...(options.env && { env: options.env }),
    ...(options.event && { event: options.event }),
    run: { workflow: workflow.name ?? '', job: jobId, ...options.run },
    secrets: Object.values(options.secrets ?? {}),
    jobEnv,
  });

  const stepsContext: Record<string, Value> = {};
  const results: WorkflowStepResult[] = [];
  const posts: StepResult[] = [];
  const begun = new Map<string, PromiseWithResolvers<RunningStep>>();
  const beginning = (name: string): PromiseWithResolvers<RunningStep> => {
    const known = begun.get(name) ?? Promise.withResolvers<RunningStep>();
    begun.set(name, known);
    return known;
  };
  let status: Status = 'success';
  let current: { readonly running: RunningStep; readonly goesOn: () => boolean } | undefined;

  const scopeOf = (env: Texts): Scope => ({
    contexts: {
      ...contexts(job.variables('')),
      env: { ...jobEnv(job.variables('')), ...Object.fromEntries(job.exported), ...env },
      job: { status },
      steps: stepsContext,
    },
    status,
  });

  const startProcess = async (step: WorkflowStep, env: Variables, scope: Scope): Promise<RunningStep> => {
    const { id, run } = step;
    if (run === undefined) return job.step({ with: filled(step.with, scope), env, ...(id !== undefined && { id }) });
    const defaults = { ...workflow.defaults?.run, ...definition.defaults?.run };
    const folder = textOf(step['working-directory'] ?? defaults['working-directory'], scope);
    return job.command({
      command: await scriptCommand(textOf(run, scope), step.shell ?? defaults.shell, job.folders.temp),
      workingFolder: resolve(job.folders.workspace, folder),
      env,
      id: id ?? '__run',
    });
  };

  const runStep = async (step: WorkflowStep, env: Variables, scope: Scope): Promise<Ran> => {
    const handler = handlerOf(step);
    if (handler !== undefined) {
      await handler({ job, with: filled(step.with, scope) });
      return { ...nothingRan, conclusion: 'success' };
    }
    const running = await startProcess(step, env, scope);
    current = { running, goesOn: () => conditionHolds(step.if, scopeOf(env)) };
    for (const name of [step.id, nameOf(step, scope)]) if (name !== undefined) beginning(name).resolve(running);
    const { conclusion, outputs, log, annotations, summary } = await running.finished;
    current = undefined;
    return { conclusion, outputs, log, annotations, summary };
  };

  const take = async (step: WorkflowStep): Promise<void> => {
    const env = filled(step.env, scopeOf({}));
    const scope = scopeOf(env);
    const { id } = step;
    const ran: Ran = conditionHolds(step.if, scope)
      ? await runStep(step, env, scope).catch(
          (error: Error): Ran => ({ ...nothingRan, conclusion: 'failure', log: `##[error]${job.mask(error.message)}` }),
        )
      : { ...nothingRan, conclusion: 'skipped' };
    const outcome = ran.conclusion;
    const forgiven = outcome === 'failure' && isTrue(step['continue-on-error'], scope);
    const conclusion = forgiven ? 'success' : outcome;
    if (conclusion === 'failure' && status === 'success') status = 'failure';
    results.push({ ...ran, id, name: nameOf(step, scope), outcome, conclusion });
    if (id !== undefined) stepsContext[id] = { outcome, conclusion, outputs: ran.outputs };
  };

  const finish = async () => {
    const { runner: _, ...ofJob } = contexts(job.variables(''));
    const runs = conditionHolds(definition.if, { contexts: ofJob, status: statusOf(needs) });
    for (const step of (runs && definition.steps) || []) await take(step);
    posts.push(...(await job.post()));
    if (status === 'success' && posts.some(({ conclusion }) => conclusion === 'failure')) status = 'failure';
    const result: Conclusion = runs ? status : 'skipped';
    // Outputs that contain a secret are omitted.
    const outputs: Texts = Object.fromEntries(
      Object.entries(filled(definition.outputs, scopeOf({}))).filter(([, value]) => job.mask(value) === value),
    );
    const declared = Object.entries(workflow.on.workflow_call?.outputs ?? {}).map(([name, { value }]) => [name, value]);
    return {
      result,
      outputs,
      /** The outputs of the complete workflow, if it can be called. */
      workflowOutputs: filled(Object.fromEntries(declared), {
        contexts: { ...ofJob, jobs: { [jobId]: { result, outputs } } },
      }),
      posts,
      /** The logs of steps and posts, one after the other. */
      log: [...results, ...posts].map(({ log }) => log).join('\n'),
      annotations: [...results, ...posts].flatMap(({ annotations }) => annotations),
      job,
      /** The step with this id or name. */
      step(name: string): WorkflowStepResult {
        const found = results.find(({ id }) => id === name) ?? results.find((each) => each.name === name);
        if (found === undefined) throw new Error(`The job has no step ${name}.`);
        return found;
      },
    };
  };
  const finished = finish();

  return {
    job,
    finished,
    /** The process of the step with this id or name, when it has started. */
    begun: (name: string): Promise<RunningStep> =>
      Promise.race([
        beginning(name).promise,
        finished.then(({ log }) => Promise.reject(new Error(`The step ${name} did not run:\n${log}`))),
      ]),
    /** Cancels the run. Posts, and steps with a matching `if:`, still run. */
    async cancel() {
      status = 'cancelled';
      if (current !== undefined && !current.goesOn()) await current.running.cancel();
      return finished;
    },
  };
}

export const runWorkflowJob = async (options: WorkflowJobOptions) => (await startWorkflowJob(options)).finished;

/** actions/runner, `ScriptHandlerHelpers.cs`. The default shell is `bash -e` on a machine with bash. */
const shells: Readonly<Record<string, string>> = {
  '': 'bash -e {0}',
  bash: 'bash --noprofile --norc -eo pipefail {0}',
};

/** Writes the text of `run:` into a file, as the runner does, and returns the command of its shell. */
async function scriptCommand(text: string, shell: string | undefined, temp: string): Promise<Command> {
  const template = shells[shell ?? ''];
  if (template === undefined) throw new Error(`The runner of the tests has no shell ${shell}.`);
  const file = join(temp, `${randomUUID()}.sh`);
  await writeFile(file, `${text}\n`);
  const [program = '', ...values] = template.split(' ').map((part) => part.replace('{0}', () => file));
  return [program, ...values];
}
