import { ServiceError, type WorkspaceId } from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import { mirrorAgeText, outdatedText } from '../../interface/outdated.ts';
import type { Comparison, Outdated } from '../../interface/resources.ts';
import type { FileAnnotation } from '../report/outcome.ts';
import { type Context, defaultLimits } from '../step/context.ts';

/** Annotations on files with a newer version on another branch than that of the run. */
export const outdatedAnnotations = (
  { runner }: Pick<Context, 'runner'>,
  files: readonly Outdated[],
  isWarning: boolean,
): readonly FileAnnotation[] =>
  [...new Map(files.map((outdated) => [outdated.path, outdated])).values()].map((outdated) => ({
    file: outdated.path,
    title: 'Outdated',
    text: outdatedText(outdated, runner.branch),
    isWarning,
  }));

/** Warns that the files were compared with an old mirror. */
export function warnOfAge({ log }: Pick<Context, 'log'>, comparisons: readonly Pick<Comparison, 'as_of'>[]): void {
  const old = comparisons.find(({ as_of }) => as_of !== undefined);
  if (old?.as_of !== undefined) log.warn(mirrorAgeText(old.as_of));
}

/**
 * Asks which of the paths are outdated on the branch of the run. Only information: an error, also of a service that
 * does not compare branches, means none.
 */
export async function findOutdated(
  context: Context,
  workspace: WorkspaceId,
  paths: readonly LockPath[],
): Promise<readonly Outdated[]> {
  const { client, log, runner } = context;
  const { branch } = runner;
  if (branch === undefined || paths.length === 0) return [];
  try {
    const request = { workspace, paths, branch, attempts: 'once' } as const;
    const checked = await client.checkPaths(request, defaultLimits(context));
    if (checked.kind === 'unsupported') return [];
    warnOfAge(context, [checked]);
    return checked.outdated;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    log.debug(`The files were not compared with other branches: ${error.message}`);
    return [];
  }
}
