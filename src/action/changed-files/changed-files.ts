import { getOctokit } from '@actions/github';
import { inParallel } from '../../client/in-parallel.ts';
import { asObject, isArray, type Json, nameIn } from '../../client/json.ts';
import { unusable } from '../../client/refusal.ts';
import { type Call, type CallLimits, expectSuccess } from '../../client/request.ts';
import { ServiceError, withRequest } from '../../client/service-error.ts';
import { errorMessage, formatNumber, pluralize } from '../../interface/format.ts';
import { type LockPath, parseHeldPath } from '../../interface/lock-path.ts';
import { isFault } from '../report/outcome.ts';
import { type GitHubContext, openGitHubCall } from '../step/github.ts';
import { type Change, type ChangeSource, retryAdvice } from './change.ts';

/**
 * Fetches the files of a change from GitHub, and their number. Throws if the list is incomplete. The paths are unique
 * and include both names of a renamed file, but no names that cannot be locked.
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
  }
}

async function filesOf(change: Change, github: GitHub): Promise<readonly ListedFile[]> {
  switch (change.kind) {
    case 'pull-request':
      return pullRequestFiles(github, change.number);
    case 'push':
    case 'merge-group':
    case 'new-ref':
      return filesBetween(github, change.base, change.head, change.kind === 'new-ref');
    case 'deleted-ref':
      return [];
  }
}

/** Advice for an error from GitHub. The client's own advice is about the service, except for connection failures. */
function adviceOn({ status, advice, failure }: ServiceError, { kind }: Change): string {
  if (status === 401 || status === 403 || status === 404) {
    const permission = `\`${kind === 'pull-request' ? 'pull-requests' : 'contents'}: read\``;
    const gone = ' Or the commit before the push no longer exists, for example after a force push.';
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

/** Maximum number of files that GitHub lists for a pull request: docs.github.com, "List pull requests files". */
const maxPullRequestFiles = 3_000;

/** The files of a pull request. GitHub's own count shows whether the list is complete. */
export async function pullRequestFiles(github: GitHub, number: number): Promise<readonly ListedFile[]> {
  const { changed_files: count } = asObject(await github.read('pulls/{number}', { number }));
  if (typeof count !== 'number') throw missing('the number of changed files of the pull request');
  if (count > maxPullRequestFiles) {
    throw new Error(
      `It changes ${pluralize(count, 'file')}, and GitHub lists at most ${formatNumber(maxPullRequestFiles)}. Split it, or name the files with \`path\` instead.`,
    );
  }
  const files = new Map<string, ListedFile>();
  // Stops at the first page with nothing new, instead of following links, which could lead to another server.
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

/** All files that differ between two commits, even after a force push, or that changed on the head since they split. */
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

/** Maximum number of files in a comparison. All are on its first page: docs.github.com, "Compare two commits". */
const maxComparedFiles = 300;

/**
 * Compares the head with its merge base. `files` is undefined if GitHub may have omitted some. `isAhead`: the head
 * contains all commits of the base.
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

/**
 * The files that differ between two trees, with `folder` as a prefix. Takes two requests, and two or four more per
 * changed folder if GitHub truncates the recursive list. A renamed file counts as two files.
 */
async function treeDifference(
  github: GitHub,
  before: string | undefined,
  after: string | undefined,
  folder = '',
): Promise<readonly ListedFile[]> {
  const read = (options: { readonly recursive?: 1 }) =>
    Promise.all([readTree(github, before, options), readTree(github, after, options)]);
  const all = await read({ recursive: 1 });
  const isTruncated = all.some((tree) => tree.isTruncated);
  const [from, to] = isTruncated ? await read({}) : all;
  if (isTruncated && (from.isTruncated || to.isTruncated)) {
    throw new Error(
      `GitHub lists only some of the files of ${folder === '' ? 'the repository' : folder}. Name the files with \`path\` instead.`,
    );
  }
  const changed = [...new Set([...from.entries.keys(), ...to.entries.keys()])].filter(
    (path) => from.entries.get(path)?.version !== to.entries.get(path)?.version,
  );
  const files = await inParallel(changed, async (path): Promise<readonly ListedFile[]> => {
    const [old, now] = [from.entries.get(path), to.entries.get(path)];
    const name = folder + path;
    const file = old?.isFile === true || now?.isFile === true ? [{ name, before: undefined }] : [];
    const [oldFolder, newFolder] = [old, now].map((entry) => (entry?.isFile === false ? entry.sha : undefined));
    if (!isTruncated || (oldFolder === undefined && newFolder === undefined)) return file;
    return [...file, ...(await treeDifference(github, oldFolder, newFolder, `${name}/`))];
  });
  return files.flat();
}

interface Tree {
  /** By path relative to the tree. `version` changes whenever the content or the mode does. */
  readonly entries: ReadonlyMap<string, { readonly isFile: boolean; readonly sha: string; readonly version: string }>;
  readonly isTruncated: boolean;
}

/** GitHub truncates a list of more than 100,000 entries or 7 MB: docs.github.com, "Get a tree". */
async function readTree(github: GitHub, tree: string | undefined, options: { readonly recursive?: 1 }): Promise<Tree> {
  if (tree === undefined) return { entries: new Map(), isTruncated: false };
  const response = asObject(await github.read('git/trees/{tree}', { tree, ...options }));
  return { entries: readEntries(response['tree']), isTruncated: response['truncated'] !== false };
}

function readEntries(list: Json | undefined): Tree['entries'] {
  const entries = isArray(list) ? list.map(asObject) : [{}];
  return new Map(
    entries.map((entry) => {
      const [path, sha, mode, type] = ['path', 'sha', 'mode', 'type'].map((name) => nameIn(entry[name]));
      if (path === undefined || sha === undefined || type === undefined) {
        throw unreadable();
      }
      return [path, { isFile: type !== 'tree', sha, version: `${mode} ${sha}` }];
    }),
  );
}

/** Fails if an entry is unreadable, because no file must be missed. */
function readFiles(list: Json | undefined): readonly ListedFile[] {
  const files = isArray(list) ? list.map(readFile) : [undefined];
  if (!files.every((file) => file !== undefined)) throw unreadable();
  return files;
}

function readFile(entry: Json): ListedFile | undefined {
  const { filename, status, previous_filename } = asObject(entry);
  const name = nameIn(filename);
  // A copy leaves the original file unchanged.
  const before = status === 'copied' ? undefined : nameIn(previous_filename);
  return name === undefined ? undefined : { name, before };
}

const unreadable = (): Error => new Error(`GitHub sent a list of files that cannot be read. ${retryAdvice}`);

const missing = (what: string): Error => new Error(`GitHub did not return ${what}. ${retryAdvice}`);

export type GitHub = ReturnType<typeof openGitHub>;

/** Opens the repository. Error messages are complete sentences. */
function openGitHub({ apiUrl, repository, token }: ChangeSource, context: GitHubContext, within: CallLimits) {
  const call = openGitHubCall(new URL(apiUrl), token, context);
  const octokit = getOctokit(token, {
    baseUrl: apiUrl,
    request: { fetch: createGitHubFetch(call, within) },
  });

  return {
    /** `path` is relative to the repository, with parameters in braces: `pulls/{number}`. */
    async read(path: string, parameters: Readonly<Record<string, string | number>>): Promise<Json> {
      try {
        return (await octokit.request(`GET /repos/{owner}/{repo}/${path}`, { ...repository, ...parameters })).data;
      } catch (error) {
        throw unwrapError(error);
      }
    },
  };
}

/**
 * A `fetch` for octokit that uses the client's own transport, and so sends requests only to the API server. It only
 * reads, retries by itself, and throws unless the response is a success with JSON.
 */
const createGitHubFetch =
  (call: Call, within: CallLimits) =>
  async (url: string): Promise<Response> => {
    const { pathname, search } = new URL(url);
    const result = await call({ method: 'GET', target: pathname + search, expect: unusable }, within);
    const { body } = expectSuccess(result).response;
    const value = body.kind === 'json' ? body.value : null;
    // Without other headers, because octokit would log deprecations in them.
    return new Response(JSON.stringify(value), { headers: { 'content-type': 'application/json' } });
  };

/** Unwraps an error thrown by `fetch`, which octokit wraps in one of its own. */
const unwrapError = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? error.cause : error;
