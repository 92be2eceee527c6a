import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ourActionFile } from '../runner/action-file.ts';
import type { Job, Variables } from '../runner/job.ts';

/** The context of a step with an action that is not ours. */
export interface UsedStep {
  readonly job: Job;
  readonly with: Readonly<Record<string, string>>;
  readonly env: Variables;
  /** The version after the `@`. */
  readonly ref: string;
}

/** Replaces an action. If it throws, the step fails with that message. */
export type UsesHandler = (
  step: UsedStep,
) => Promise<{ readonly outputs?: Readonly<Record<string, string>>; readonly log?: string } | undefined>;

/** Handlers by the name of the action, such as `actions/checkout`. */
export type UsesHandlers = Readonly<Record<string, UsesHandler>>;

/** The implementation of a `uses:`: the test, our own bundle, or an action that an earlier step put into a folder. */
export type Used =
  | { readonly by: 'handler'; readonly handler: UsesHandler; readonly name: string; readonly ref: string }
  | { readonly by: 'bundle' }
  | { readonly by: 'folder'; readonly folder: string };

/** Finds the action of a step. The runner fetches all actions first, so unknown ones are reported then. */
export function usedAction(uses: string, handlers: UsesHandlers): Used {
  if (uses.startsWith('./')) return { by: 'folder', folder: uses.slice(2) };
  const [name = '', ref = ''] = uses.split('@');
  const handler = handlers[name];
  if (handler !== undefined) return { by: 'handler', handler, name, ref };
  if (/^[^/]+\/workspace-automation$/.test(name) && ref !== '') return { by: 'bundle' };
  throw new Error(`The test says nothing of the action ${uses}.`);
}

/** The `action.yml` to run, located when the step starts. */
export function actionFileOf(used: Exclude<Used, { by: 'handler' }>, job: Job): string {
  if (used.by === 'bundle') return ourActionFile;
  const folder = join(job.folders.workspace, used.folder);
  const file = join(folder, 'action.yml');
  if (existsSync(file)) return file;
  throw new Error(
    `Can't find 'action.yml', 'action.yaml' or 'Dockerfile' under '${folder}'. Did you forget to run actions/checkout before running your local action?`,
  );
}

/** `GITHUB_ACTION` of each step without an id: the docs of `github.action`, and `PipelineTemplateConverter.cs`. */
export function actionNames(): (step: {
  readonly id?: string | undefined;
  readonly uses?: string | undefined;
}) => string {
  const seen = new Map<string, number>();
  return ({ id, uses }) => {
    if (id !== undefined) return id;
    const [action = ''] = uses?.split('@') ?? [];
    const base = uses === undefined ? '__run' : uses.startsWith('./') ? '__self' : `__${action.replaceAll('/', '_')}`;
    const count = (seen.get(base) ?? 0) + 1;
    seen.set(base, count);
    return count === 1 ? base : `${base}_${count}`;
  };
}
