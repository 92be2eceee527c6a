import { isRepository, type Mirror } from './bare-repository.ts';
import type { GitCommand, GitTask } from './git-command.ts';
import { GitError } from './git-error.ts';
import { eachLine } from './git-output.ts';
import type { PublishedBranches } from './published-view.ts';
import type { Limits } from './run-git.ts';
import type { UploadPackRequest } from './upload-pack-request.ts';

interface Search {
  readonly git: GitCommand;
  readonly mirror: Mirror;
  readonly limits: Limits;
}

/** A request of a client, and what it may see of the mirror. */
export interface ClientTask extends Search {
  readonly branches: PublishedBranches;
  /** Commits that are served too, although a sync has moved their branches since then. */
  readonly formerHeads: () => Promise<readonly string[]>;
  /** Undefined for the capabilities of the service. */
  readonly request: UploadPackRequest | undefined;
  /** Receives the branches that are not served because the mirror lacks their commits. The list is usually empty. */
  readonly onMissing: (names: readonly string[]) => void;
}

/**
 * The branches to serve. Throws if the request is for objects that are not published. Between the requests of one clone,
 * a sync may move a branch, so its former commit is served too.
 */
export async function publishedFor(task: ClientTask): Promise<PublishedBranches> {
  const { wants = [] } = task.request ?? {};
  const branches = await presentBranches(task);
  const heads = new Set(branches.values());
  if (wants.every((id) => heads.has(id))) return branches;
  if (await arePublished(task, wants, [...heads, ...(await task.formerHeads())])) return branches;
  const [one = ''] = wants;
  const what = wants.length === 1 ? `The object ${one} is` : `Some of the ${wants.length} requested objects are`;
  throw new GitError('not-published', `${what} not in any synced branch. Sync the branch that has what you need.`);
}

/**
 * Branches whose commits are in the mirror. Commits can be missing if the folder was removed or restored, if instances
 * do not share a data folder, or briefly on a network file system. If all are missing, this is an error: otherwise the
 * client would get an empty clone.
 */
async function presentBranches({ branches, onMissing, ...search }: ClientTask): Promise<PublishedBranches> {
  const missing = await missingCommits(search, branches.values());
  const lacking = [...branches].filter(([, head]) => missing.has(head));
  onMissing(lacking.map(([name]) => name));
  const [first] = lacking;
  if (first !== undefined && lacking.length === branches.size) {
    const [name, head] = first;
    throw new GitError(
      'incomplete',
      `The mirror lacks the commit ${head} of the branch ${name}. Sync the branch again.`,
    );
  }
  return new Map([...branches].filter(([, head]) => !missing.has(head)));
}

/**
 * Which of these commits the mirror lacks. One that it has is complete: git makes a pack visible only with all objects
 * that were missing for its commits.
 */
export async function missingCommits(search: Search, commits: Iterable<string>): Promise<ReadonlySet<string>> {
  const asked = new Set(commits);
  return asked.difference(new Set((await typesOf(search, [...asked])).keys()));
}

/**
 * git serves any object by its id: version 2 of the protocol always (upload-pack.c, parse_want), and the others as set
 * in uploadPackSettings. So the service itself checks that each object is reachable from a published commit.
 */
async function arePublished(search: Search, wants: readonly string[], tips: readonly string[]): Promise<boolean> {
  const types = await typesOf(search, wants);
  const commits = wants.filter((id) => types.get(id) === 'commit');
  const others = wants.filter((id) => types.get(id) !== 'commit');
  if (types.size < wants.length || !(await areReachable(search, commits, tips))) return false;
  return others.length === 0 || areContained(search, others, tips);
}

async function typesOf(search: Search, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const types = new Map<string, string>();
  if (ids.length === 0 || !(await isRepository(search.mirror.repository))) return types;
  await inMirror(search, ['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
    purpose: 'look for objects in the mirror',
    ids,
    onOutput: eachLine((line) => {
      const [id = '', type = ''] = line.split(' ');
      if (type !== 'missing') types.set(id, type);
    }),
  });
  return types;
}

async function areReachable(search: Search, commits: readonly string[], tips: readonly string[]): Promise<boolean> {
  const beyond = await inMirror(search, ['rev-list', '--max-count=1', '--ignore-missing', '--stdin'], {
    purpose: 'look for commits that no branch has',
    ids: [...commits, ...tips.map((tip) => `^${tip}`)],
  });
  return beyond === '';
}

/** As areReachable(), for trees and blobs. Newest commits first, because partial clones mostly request theirs. */
async function areContained(search: Search, objects: readonly string[], tips: readonly string[]): Promise<boolean> {
  const missing = new Set(objects);
  const found = new AbortController();
  const args = ['rev-list', '--objects', '--no-object-names', '--in-commit-order', '--ignore-missing', '--stdin'];
  await inMirror(search, args, {
    purpose: 'look for objects that no branch has',
    enough: found.signal,
    ids: tips,
    onOutput: eachLine((id) => {
      if (missing.delete(id) && missing.size === 0) found.abort();
    }),
  });
  return missing.size === 0;
}

type SearchTask = Pick<GitTask, 'purpose' | 'enough' | 'onOutput'> & { readonly ids: readonly string[] };

/** Runs git with the ids as its input. */
const inMirror = ({ git, mirror, limits }: Search, args: readonly string[], { ids, ...task }: SearchTask) =>
  git(args, {
    ...task,
    repository: mirror.repository,
    limits,
    input: Buffer.from(ids.map((id) => `${id}\n`).join('')),
    inBackground: true,
  });
