import { asObject, isArray, type Json, nameIn } from '../../client/json.ts';
import type { CallLimits } from '../../client/request.ts';
import { ServiceError, withRequest } from '../../client/service-error.ts';
import { errorMessage, formatNumber, pluralize } from '../../interface/format.ts';
import { type LockPath, parseHeldPath } from '../../interface/lock-path.ts';
import { isFault } from '../report/outcome.ts';
import type { GitHubContext } from '../step/github.ts';
import { type Change, type ChangeSource, retryAdvice } from './change.ts';
import { type GitHub, openGitHub } from './github.ts';

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

const filesOf = (change: Change, github: GitHub): Promise<readonly ListedFile[]> =>
  change.kind === 'pull-request'
    ? pullRequestFiles(github, change.number)
    : filesBetween(github, change.base, change.head, change.kind === 'new-ref');

/** Advice for an error of GitHub. The client's own advice is about the service, except for connection failures. */
function adviceOn({ status, advice, failure }: ServiceError, { kind }: Change): string {
  if (status === 401 || status === 403 || status === 404) {
    const permission = `\`${kind === 'pull-request' ? 'pull-requests' : 'contents'}: read\``;
    const gone = ' Or the commit before the push is gone, as can happen after a force push.';
    return ` Give the job the permission ${permission}, and leave \`github-token\` out.${status === 404 && kind === 'push' ? gone : ''}`;
  }
  return failure.kind === 'connection' ? advice : ` ${retryAdvice}`;
}

/** A changed, added or removed file in a list from GitHub. */
export interface ListedFile {
  readonly name: string;
  /** The previous name of a renamed file. */
  readonly before: string | undefined;
}

/** The maximum number of files that GitHub lists for a pull request: docs.github.com, "List pull requests files". */
const maxPullRequestFiles = 3_000;

/** The files of a pull request. GitHub's count shows whether it has listed all of them. */
export async function pullRequestFiles(github: GitHub, number: number): Promise<readonly ListedFile[]> {
  const { changed_files: count } = asObject(await github.read('pulls/{number}', { number }));
  if (typeof count !== 'number') throw missing('the number of changed files of the pull request');
  if (count > maxPullRequestFiles) {
    throw new Error(
      `It changes ${pluralize(count, 'file')}, and GitHub lists at most ${formatNumber(maxPullRequestFiles)}. Split it, or name the files with \`path\` instead.`,
    );
  }
  const files = new Map<string, ListedFile>();
  // Ends with the first page that has nothing new: not by links, which could lead to another server.
  for (let page = 1, before = -1; before < files.size && files.size < count; page += 1) {
    before = files.size;
    const list = await github.read('pulls/{number}/files', { number, per_page: 100, page });
    for (const file of readFiles(list)) files.set(file.name, file);
  }
  if (files.size >= count) return [...files.values()];
  throw new Error(
    `GitHub reports ${pluralize(count, 'changed file')}, but lists ${formatNumber(files.size)}. ${retryAdvice}`,
  );
}

/** All files that differ between two commits, even after a force push, or that the head has changed since both split. */
export async function filesBetween(
  github: GitHub,
  base: string,
  head: string,
  sinceMergeBase = false,
): Promise<readonly ListedFile[]> {
  const { files, isAhead, mergeBase } = await compare(github, base, head);
  if (files !== undefined && (isAhead || sinceMergeBase)) return files;
  return treeDifference(github, sinceMergeBase ? mergeBase : base, head);
}

/** The maximum number of files in a comparison, all on its first page: docs.github.com, "Compare two commits". */
const maxComparedFiles = 300;

/**
 * Compares the head with its merge base. `files` is undefined if GitHub may not have listed all of them. `isAhead`: the
 * head contains all commits of the base.
 */
async function compare(github: GitHub, base: string, head: string) {
  const compared = asObject(await github.read('compare/{base}...{head}', { base, head, per_page: 1 }));
  const mergeBase = nameIn(asObject(compared['merge_base_commit'])['sha']);
  if (mergeBase === undefined) throw missing('the merge base of the two commits');
  const files = readFiles(compared['files']);
  return {
    files: files.length < maxComparedFiles ? files : undefined,
    isAhead: compared['status'] === 'ahead' || compared['status'] === 'identical',
    mergeBase,
  };
}

/** The files that differ between two trees. A renamed file counts as two. */
async function treeDifference(github: GitHub, before: string, after: string): Promise<readonly ListedFile[]> {
  const [from, to] = await Promise.all([readTree(github, before), readTree(github, after)]);
  return [...new Set([...from.keys(), ...to.keys()])]
    .filter((name) => from.get(name) !== to.get(name))
    .map((name) => ({ name, before: undefined }));
}

/**
 * The files of a tree, and for each a text that changes with its content and mode. GitHub truncates a list of more than
 * 100,000 entries or 7 MB: docs.github.com, "Get a tree".
 */
async function readTree(github: GitHub, tree: string): Promise<ReadonlyMap<string, string>> {
  const { tree: list, truncated } = asObject(await github.read('git/trees/{tree}', { tree, recursive: 1 }));
  if (truncated !== false) {
    throw new Error('GitHub lists only some of the files of the repository. Name the files with `path` instead.');
  }
  const files = new Map<string, string>();
  for (const entry of isArray(list) ? list.map(asObject) : [{}]) {
    const [path, sha, mode, type] = ['path', 'sha', 'mode', 'type'].map((name) => nameIn(entry[name]));
    if (path === undefined || sha === undefined || type === undefined) throw unreadable();
    if (type !== 'tree') files.set(path, `${mode} ${sha}`);
  }
  return files;
}

/** Fails on an unreadable entry: no file must be overlooked. */
function readFiles(list: Json | undefined): readonly ListedFile[] {
  const files = isArray(list) ? list.map(readFile) : [undefined];
  if (!files.every((file) => file !== undefined)) throw unreadable();
  return files;
}

function readFile(entry: Json): ListedFile | undefined {
  const { filename, status, previous_filename } = asObject(entry);
  const name = nameIn(filename);
  // Copying a file does not change the original.
  const before = status === 'copied' ? undefined : nameIn(previous_filename);
  return name === undefined ? undefined : { name, before };
}

const unreadable = (): Error => new Error(`GitHub sent a list of files that cannot be read. ${retryAdvice}`);

const missing = (what: string): Error => new Error(`GitHub did not return ${what}. ${retryAdvice}`);
