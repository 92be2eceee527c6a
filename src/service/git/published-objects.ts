import { isRepository } from './bare-repository.ts';
import type { GitCommand } from './git-command.ts';
import { GitError } from './git-error.ts';
import { eachLine } from './git-output.ts';
import type { Published } from './published-view.ts';
import type { Limits } from './run-git.ts';

interface Search {
  readonly git: GitCommand;
  readonly repository: string;
  readonly limits: Limits;
}

/**
 * The view for a request for these objects. Throws if some are not published. Between the requests of one clone, a sync
 * may move a branch, so its former commit is served too.
 */
export async function publishedFor(
  search: Search,
  synced: Published['branches'],
  wants: readonly string[],
  formerHeads: () => Promise<readonly string[]>,
  onLacking: (names: readonly string[]) => void,
): Promise<Published> {
  const branches = await presentBranches(search, synced, onLacking);
  const heads = new Set(branches.values());
  if (wants.every((id) => heads.has(id))) return { branches, unnamed: [] };
  const unnamed = await formerHeads();
  if (await arePublished(search, wants, [...heads, ...unnamed])) return { branches, unnamed };
  const [one = ''] = wants;
  const what = wants.length === 1 ? `The object ${one} is` : `Some of the ${wants.length} requested objects are`;
  throw new GitError('not-published', `${what} not in any synced branch. Sync the branch that has what you need.`);
}

/**
 * Branches whose commits are in the mirror. Commits can be missing if the folder was removed or restored, if instances
 * do not share a data folder, or briefly on a network file system. If all are missing, this is an error: otherwise the
 * client would get an empty clone.
 */
async function presentBranches(
  search: Search,
  branches: Published['branches'],
  onLacking: (names: readonly string[]) => void,
): Promise<Published['branches']> {
  const types = await typesOf(search, [...new Set(branches.values())]);
  const lacking = [...branches].filter(([, head]) => !types.has(head));
  onLacking(lacking.map(([name]) => name));
  const [first] = lacking;
  if (first !== undefined && lacking.length === branches.size) {
    const [name, head] = first;
    throw new GitError(
      'incomplete',
      `The mirror lacks the commit ${head} of the branch ${name}. Sync the branch again.`,
    );
  }
  return new Map([...branches].filter(([, head]) => types.has(head)));
}

/**
 * Version 2 of the protocol serves any object by its id (upload-pack.c, parse_want), so the service itself checks that
 * each object is reachable from a published commit.
 */
async function arePublished(search: Search, wants: readonly string[], tips: readonly string[]): Promise<boolean> {
  const types = await typesOf(search, wants);
  const commits = wants.filter((id) => types.get(id) === 'commit');
  const others = wants.filter((id) => types.get(id) !== 'commit');
  if (types.size < wants.length || !(await areReachable(search, commits, tips))) return false;
  return others.length === 0 || areContained(search, others, tips);
}

/** Types of the objects that are in the mirror. */
async function typesOf({ git, ...search }: Search, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const types = new Map<string, string>();
  if (ids.length === 0 || !(await isRepository(search.repository))) return types;
  await git(['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
    ...search,
    purpose: 'look for objects in the mirror',
    input: asInput(ids),
    inBackground: true,
    onOutput: eachLine((line) => {
      const [id = '', type = ''] = line.split(' ');
      if (type !== 'missing') types.set(id, type);
    }),
  });
  return types;
}

/** Whether all of these commits are reachable from the tips. */
async function areReachable(
  { git, ...search }: Search,
  commits: readonly string[],
  tips: readonly string[],
): Promise<boolean> {
  const beyond = await git(['rev-list', '--max-count=1', '--ignore-missing', '--stdin'], {
    ...search,
    purpose: 'look for commits that no branch has',
    input: asInput([...commits, ...tips.map((tip) => `^${tip}`)]),
    inBackground: true,
  });
  return beyond === '';
}

/**
 * Whether all of these trees and blobs are reachable from the tips. Partial clones mostly request objects of the newest
 * commits, which are found first.
 */
async function areContained(
  { git, ...search }: Search,
  objects: readonly string[],
  tips: readonly string[],
): Promise<boolean> {
  const missing = new Set(objects);
  const found = new AbortController();
  await git(['rev-list', '--objects', '--no-object-names', '--in-commit-order', '--ignore-missing', '--stdin'], {
    ...search,
    purpose: 'look for objects that no branch has',
    enough: found.signal,
    input: asInput(tips),
    inBackground: true,
    onOutput: eachLine((id) => {
      if (missing.delete(id) && missing.size === 0) found.abort();
    }),
  });
  return missing.size === 0;
}

const asInput = (ids: Iterable<string>): Buffer => Buffer.from([...ids].map((id) => `${id}\n`).join(''));
