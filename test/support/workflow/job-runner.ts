import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Job, JobOptions, Variables } from '../runner/job.ts';
import { startJob } from '../runner/start-job.ts';
import type { RunningStep, StepResult } from '../runner/step.ts';
import type { Annotation } from '../runner/step-log.ts';
import type { Command } from '../runner/step-process.ts';
import { conditionHolds, filled, isTrue, type Scope, type Status, textOf, type Value } from './expressions.ts';
import { type Conclusion, type GivenContexts, jobContexts, statusOf } from './job-contexts.ts';
import {
  actionFileOf,
  actionNames,
  type Used,
  type UsesHandlers,
  usedAction,
  type WorkflowSource,
} from './used-action.ts';
import { readWorkflow, type Workflow, type WorkflowJob, type WorkflowStep } from './workflow-file.ts';

export interface WorkflowJobOptions
  extends GivenContexts,
    Pick<JobOptions, 'debug' | 'delays' | 'env' | 'event' | 'onShown' | 'run'> {
  /** The workflow, or the name of a file in `.github/workflows/`. */
  readonly workflow: Workflow | string;
  /** Required if the workflow has several jobs. */
  readonly job?: string;
  /** The actions that are not ours, by name without the version. */
  readonly uses?: UsesHandlers;
  /** The repository and the commit of the workflow file, in which `uses: $/…` is looked up. */
  readonly source?: WorkflowSource;
}

interface WorkflowStepResult {
  readonly id: string | undefined;
  readonly name: string;
  /** The result before `continue-on-error` is applied. */
  readonly outcome: Conclusion;
  readonly conclusion: Conclusion;
  readonly outputs: Readonly<Record<string, string>>;
  readonly log: string;
  readonly annotations: readonly Annotation[];
  readonly summary: string;
}

export interface WorkflowJobResult {
  readonly result: Conclusion;
  readonly outputs: Readonly<Record<string, string>>;
  /** The outputs of the complete workflow, if it can be called and this is its only job. */
  readonly workflowOutputs: Readonly<Record<string, string>>;
  readonly steps: readonly WorkflowStepResult[];
  readonly posts: readonly StepResult[];
  /** The logs of steps and posts, one after the other. */
  readonly log: string;
  readonly annotations: readonly Annotation[];
  readonly job: Job;
  /** The repositories that the runner downloads for `uses:` before the first step, each with its version. */
  readonly downloads: readonly string[];
  /** The step with this id or name. */
  step(name: string): WorkflowStepResult;
}

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

/** The result of a step, independent of its type. */
interface Ran {
  readonly conclusion: Status;
  readonly outputs: Readonly<Record<string, string>>;
  readonly log: string;
  readonly annotations: readonly Annotation[];
  readonly summary: string;
}

const nothingRan = { outputs: {}, log: '', annotations: [], summary: '' };

/**
 * Runs one job of a workflow as the runner does: expressions, conditions, the layers of `env:`, shells, the files that
 * steps write, our action as its bundle, and finally the posts. It does not support containers, services, composite
 * actions and `hashFiles`, and ignores time limits, permissions and concurrency.
 */
export async function startWorkflowJob(options: WorkflowJobOptions) {
  const workflow = typeof options.workflow === 'string' ? await readWorkflow(options.workflow) : options.workflow;
  const [jobId, definition] = chooseJob(workflow, options.job);
  const used = new Map<WorkflowStep, Used>();
  for (const step of definition.steps) {
    if (step.uses !== undefined) used.set(step, usedAction(step.uses, options.uses ?? {}, options.source ?? {}));
  }
  const { contexts, env: jobEnv, secrets } = jobContexts(workflow, definition, options);
  // Report invalid inputs before any folders exist.
  contexts({});
  const job = await startJob({
    ...options,
    run: { workflow: workflow.name ?? '', job: jobId, ...options.run },
    secrets: Object.values(secrets),
    jobEnv,
  });

  const actionName = actionNames();
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

  const scopeOf = (action: string, env: Readonly<Record<string, string>>): Scope => ({
    contexts: {
      ...contexts(job.variables(action)),
      env: { ...jobEnv(job.variables('')), ...Object.fromEntries(job.exported), ...env },
      job: { status, ...options.contexts?.job },
      steps: stepsContext,
    },
    status,
  });

  const startProcess = async (step: WorkflowStep, id: string, env: Variables, scope: Scope) => {
    if (step.run !== undefined) {
      const runDefaults = { ...workflow.defaults?.run, ...definition.defaults?.run };
      const folder = textOf(step['working-directory'] ?? runDefaults['working-directory'] ?? '', scope);
      return job.command({
        command: await scriptCommand(textOf(step.run, scope), step.shell ?? runDefaults.shell, job.folders.temp),
        workingFolder: resolve(job.folders.workspace, folder),
        env,
        id,
      });
    }
    const action = used.get(step);
    if (action === undefined || action.by === 'handler') throw new Error('A step has either `run` or `uses`.');
    return job.step({ with: filled(step.with, scope), env, id, actionFile: actionFileOf(action, job) });
  };

  const runStep = async (step: WorkflowStep, id: string, env: Variables, scope: Scope): Promise<Ran> => {
    const action = used.get(step);
    if (action?.by === 'handler') {
      const given = await action.handler({ job, with: filled(step.with, scope), env, ref: action.ref });
      const { outputs = {}, log = '' } = given ?? {};
      return { ...nothingRan, conclusion: 'success', outputs, log: job.mask(log) };
    }
    const running = await startProcess(step, id, env, scope);
    current = { running, goesOn: () => conditionHolds(step.if, scopeOf(id, env)) };
    for (const name of [step.id, nameOf(step, scope)]) if (name !== undefined) beginning(name).resolve(running);
    const { conclusion, outputs, log, annotations, summary } = await running.finished;
    current = undefined;
    return { conclusion, outputs, log, annotations, summary };
  };

  const take = async (step: WorkflowStep): Promise<void> => {
    const action = actionName(step);
    const env = filled(step.env, scopeOf(action, {}));
    const scope = scopeOf(action, env);
    const { id } = step;
    const ran = conditionHolds(step.if, scope)
      ? await runStep(step, action, env, scope).catch(
          (error: Error): Ran => ({ ...nothingRan, conclusion: 'failure', log: `##[error]${job.mask(error.message)}` }),
        )
      : undefined;
    const { conclusion: outcome, ...left } = ran ?? { ...nothingRan, conclusion: 'skipped' as const };
    const forgiven = outcome === 'failure' && isTrue(step['continue-on-error'], scope);
    const conclusion = forgiven ? 'success' : outcome;
    if (conclusion === 'failure' && status === 'success') status = 'failure';
    results.push({ id, name: nameOf(step, scope), outcome, conclusion, ...left });
    if (id !== undefined) stepsContext[id] = { outcome, conclusion, outputs: { ...left.outputs } };
  };

  /** Outputs that contain a secret are omitted. */
  const outputsOf = (): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(filled(definition.outputs, scopeOf('', {}))).filter(([, value]) => job.mask(value) === value),
    );

  const workflowOutputsOf = (result: Conclusion, outputs: Readonly<Record<string, string>>) => {
    const { github, inputs, vars } = contexts(job.variables(''));
    const jobs = { [jobId]: { result, outputs } };
    const declared = workflow.on.workflow_call?.outputs ?? {};
    return Object.keys(workflow.jobs).length > 1
      ? {}
      : filled(Object.fromEntries(Object.entries(declared).map(([name, { value }]) => [name, value])), {
          contexts: { github, inputs, vars, jobs },
        });
  };

  const finish = async (): Promise<WorkflowJobResult> => {
    const { github, needs, vars, inputs } = contexts(job.variables(''));
    const runs = conditionHolds(definition.if, {
      contexts: { github, needs, vars, inputs },
      status: statusOf(options.needs),
    });
    for (const step of runs ? definition.steps : []) await take(step);
    for (let post = await job.nextPost(); post !== undefined; post = await job.nextPost()) {
      posts.push(await post.finished);
    }
    if (status === 'success' && posts.some(({ conclusion }) => conclusion === 'failure')) status = 'failure';
    const result = runs ? status : 'skipped';
    const outputs = runs ? outputsOf() : {};
    return {
      result,
      outputs,
      workflowOutputs: workflowOutputsOf(result, outputs),
      steps: results,
      posts,
      log: [...results, ...posts].map(({ log }) => log).join('\n'),
      annotations: [...results, ...posts].flatMap(({ annotations }) => annotations),
      job,
      downloads: [...new Set([...used.values()].flatMap((each) => (each.by === 'folder' ? [] : [each.download])))],
      step(name) {
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
    async cancel(): Promise<WorkflowJobResult> {
      status = 'cancelled';
      if (current !== undefined && !current.goesOn()) await current.running.cancel();
      return finished;
    },
  };
}

export const runWorkflowJob = async (options: WorkflowJobOptions): Promise<WorkflowJobResult> =>
  (await startWorkflowJob(options)).finished;

/** actions/runner, `ScriptHandlerHelpers.cs`. The default shell is `bash -e` on a machine with bash. */
const shells: Readonly<Record<string, string>> = {
  '': 'bash -e {0}',
  bash: 'bash --noprofile --norc -eo pipefail {0}',
  sh: 'sh -e {0}',
};

/** Writes the text of `run:` into a file, as the runner does, and returns the command of its shell. */
async function scriptCommand(text: string, shell: string | undefined, temp: string): Promise<Command> {
  const template = shells[shell ?? ''] ?? shell ?? '';
  if (!template.includes('{0}')) throw new Error(`The runner of the tests has no shell ${template}.`);
  const file = join(temp, `${randomUUID()}.sh`);
  await writeFile(file, `${text}\n`);
  const [program = '', ...values] = template.split(' ').map((part) => part.replace('{0}', () => file));
  return [program, ...values];
}
