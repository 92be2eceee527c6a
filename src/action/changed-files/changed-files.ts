import type { CallLimits } from '../../client/request.ts';
import { ServiceError, withRequest } from '../../client/service-error.ts';
import { errorMessage } from '../../interface/format.ts';
import { type LockPath, parseHeldPath } from '../../interface/lock-path.ts';
import { isFault } from '../report/error-text.ts';
import type { GitHubContext } from '../step/github.ts';
import { type Change, type ChangeSource, retryAdvice } from './change.ts';
import { type GitHub, openGitHub } from './github.ts';
import { filesBetween, filesSince, type ListedFile, pullRequestFiles } from './listed-files.ts';

/**
 * Fetches the files of a change from GitHub, and their number. Throws if the list is incomplete. The paths are unique,
 * include both names of a renamed file, and exclude names that cannot be locked.
 */
export async function lookUpChangedFiles(source: ChangeSource, context: GitHubContext, within: CallLimits) {
  const { change, repository } = source;
  const github = openGitHub(source, context, within);
  try {
    const files = await filesOf(change, github);
    const paths = new Set<LockPath>();
    for (const name of new Set(files.flatMap(({ name, before }) => (before === undefined ? name : [name, before])))) {
      const path = parseHeldPath(name);
      if (path.ok) paths.add(path.value);
      else context.log.debug(`Skipped ${JSON.stringify(name)}, which cannot be locked. ${path.reason}`);
    }
    return { files: new Set(files.map(({ name }) => name)).size, paths: [...paths] };
  } catch (error) {
    if (isFault(error)) throw error;
    const what = `Could not look up the files of ${change.name} of ${repository.owner}/${repository.repo}.`;
    if (!(error instanceof ServiceError)) throw new Error(`${what} ${errorMessage(error)}`);
    throw new Error(withRequest(`${what} ${error.reason}${adviceOn(error, change)}`, error.request));
  } finally {
    github.close();
  }
}

async function filesOf(change: Change, github: GitHub): Promise<readonly ListedFile[]> {
  switch (change.kind) {
    case 'pull-request':
      return pullRequestFiles(github, change.number);
    case 'push':
    case 'merge-group':
      return filesBetween(github, change.base, change.head);
    case 'new-ref':
      return filesSince(github, change.base, change.head);
    case 'deleted-ref':
      return [];
  }
}

/** Advice for an error of GitHub. The client's own advice is about the service, except for connection failures. */
function adviceOn({ status, advice, failure }: ServiceError, { kind }: Change): string {
  const permission = `the permission \`${kind === 'pull-request' ? 'pull-requests' : 'contents'}: read\``;
  switch (status) {
    case 401:
      return ` Leave \`github-token\` out: the token of the job is enough, if it has ${permission}.`;
    case 403:
      return ` Give the job ${permission}, under \`permissions:\`. Read access is enough, so the token of a run from a fork works.`;
    case 404: {
      const gone = kind === 'push' ? ' Or the commit before the push is gone, as can happen after a force push.' : '';
      return ` GitHub also answers 404 for what the token may not see: give the job ${permission}, under \`permissions:\`.${gone}`;
    }
    default:
      return failure.kind === 'connection' ? advice : ` ${retryAdvice}`;
  }
}
