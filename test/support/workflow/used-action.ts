import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

/**
 * The implementation of a `uses:`: the test, an action file of this repository, or an action that an earlier step put
 * into a folder. All but the last are downloaded before the first step, from a repository at a version.
 */
export type Used =
  | { readonly by: 'handler'; readonly handler: UsesHandler; readonly download: string; readonly ref: string }
  | { readonly by: 'bundle'; readonly folder: string; readonly download: string }
  | { readonly by: 'folder'; readonly folder: string };

/** `job.workflow_repository` and `job.workflow_sha`: the repository and the commit of the workflow file. */
export interface WorkflowSource {
  readonly repository?: string | undefined;
  readonly sha?: string | undefined;
}

/**
 * `$/PATH` as the runner replaces it (`ResolveSelfRepositoryReferences` in `ActionManager.cs`, `TryParseSelfRepository`
 * in `PipelineConstants.cs`): with the repository and the commit of the file that contains it. It has no name for the
 * root of a repository.
 */
function withoutSelf(uses: string, { repository, sha }: WorkflowSource): string {
  if (!uses.startsWith('$/')) return uses;
  const path = uses.slice('$/'.length).replace(/^\/+/, '');
  if (path === '') throw new Error(`Expected format {org}/{repo}[/path]@ref. Actual '${uses}'`);
  if (repository === undefined || sha === undefined) throw new Error("Unable to resolve self-reference '$/'.");
  return `${repository}/${path}@${sha}`;
}

/** Finds the action of a step. The runner fetches all actions first, so unknown ones are reported then. */
export function usedAction(uses: string, handlers: UsesHandlers, source: WorkflowSource): Used {
  if (uses.startsWith('./')) return { by: 'folder', folder: uses.slice(2) };
  const [name = '', ref = ''] = withoutSelf(uses, source).split('@');
  const [owner, repository, ...path] = name.split('/');
  const download = `${owner}/${repository}@${ref}`;
  const handler = handlers[name];
  if (handler !== undefined) return { by: 'handler', handler, download, ref };
  if (repository === 'workspace-automation' && ref !== '') return { by: 'bundle', folder: path.join('/'), download };
  throw new Error(`The test says nothing of the action ${uses}.`);
}

/** The `action.yml` to run, located when the step starts. */
export function actionFileOf(used: Exclude<Used, { by: 'handler' }>, job: Job): string {
  if (used.by === 'bundle') return join(dirname(ourActionFile), used.folder, 'action.yml');
  const folder = join(job.folders.workspace, used.folder);
  const file = join(folder, 'action.yml');
  if (existsSync(file)) return file;
  throw new Error(
    `Can't find 'action.yml', 'action.yaml' or 'Dockerfile' under '${folder}'. Did you forget to run actions/checkout before running your local action?`,
  );
}

const selfNames: Readonly<Record<string, string>> = { './': '__self', '$/': '__selfRepository' };

/** `GITHUB_ACTION` of each step without an id: the docs of `github.action`, and `PipelineTemplateConverter.cs`. */
export function actionNames(): (step: {
  readonly id?: string | undefined;
  readonly uses?: string | undefined;
}) => string {
  const seen = new Map<string, number>();
  return ({ id, uses }) => {
    if (id !== undefined) return id;
    const [action = ''] = uses?.split('@') ?? [];
    const base = uses === undefined ? '__run' : (selfNames[uses.slice(0, 2)] ?? `__${action.replaceAll('/', '_')}`);
    const count = (seen.get(base) ?? 0) + 1;
    seen.set(base, count);
    return count === 1 ? base : `${base}_${count}`;
  };
}
