import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '../platform/missing-file.ts';
import { remember } from '../runtime/remember.ts';
import { createBorrowingRepository, isRepository, type Mirror, withScratchFolder } from './bare-repository.ts';
import { type BranchHeads, type BranchName, branchRef } from './branch-name.ts';
import { lookUp } from './changes.ts';
import { type GitCommand, type GitTask, inRepository } from './git-command.ts';
import { GitError } from './git-error.ts';
import { eachLine } from './git-output.ts';
import type { Limits } from './run-git.ts';
import { serviceHeader, type UploadPackRequest } from './upload-pack-request.ts';

/** Protocol version of the client, from its `Git-Protocol` header. Undefined means the original version, 0. */
export type GitProtocol = 'version=1' | 'version=2' | undefined;

export interface ServeTask extends ClientTask {
  /** The branch that clones check out, if it is served. */
  readonly defaultBranch: BranchName;
  readonly protocol: GitProtocol;
  /** Receives the response in chunks: see GitWork. */
  readonly onOutput: (chunk: Buffer) => Promise<void>;
}

/**
 * Serves objects of the mirror if all of them are reachable from branches of the task or from former heads. Without a
 * request, sends the capabilities of the service and, in earlier versions of the protocol, the branches.
 */
export async function serveMirror(task: ServeTask): Promise<void> {
  const { git, limits, request, protocol, onOutput } = task;
  await checkWants(task);
  let header = request === undefined && protocol !== 'version=2' ? serviceHeader : undefined;
  const args = request === undefined ? ['--http-backend-info-refs'] : [];
  await withPublishedView(task, (view) =>
    git(['upload-pack', '--strict', '--stateless-rpc', ...args, view], {
      purpose: 'serve the mirror',
      limits,
      repository: view,
      settings: uploadPackSettings,
      variables: protocol === undefined ? {} : { GIT_PROTOCOL: protocol },
      inBackground: true,
      onOutput(chunk) {
        const bytes = header === undefined ? chunk : Buffer.concat([header, chunk]);
        header = undefined;
        return onOutput(bytes);
      },
      input: request?.bytes,
    }),
  );
}

/** A temporary repository with the objects of the mirror and exactly the branches of the task, even during syncs. */
const withPublishedView = ({ mirror, branches, defaultBranch }: ServeTask, use: (view: string) => Promise<unknown>) =>
  withScratchFolder(mirror.scratch, async (folder) => {
    const view = join(folder, 'published.git');
    await createBorrowingRepository(view, mirror, defaultBranch);
    const refs = [...branches].map(([name, head]) => `${head} ${branchRef(name)}\n`);
    await writeFile(join(view, 'packed-refs'), refs.join(''));
    await use(view);
  });

/** See git-config(1). git uses one thread per clone, so that clones leave time for other work. */
const uploadPackSettings: Readonly<Record<string, string>> = {
  'uploadpack.allowFilter': 'true',
  // Other filters walk the complete history, or read their rules from an object that was not checked.
  'uploadpackfilter.allow': 'false',
  'uploadpackfilter.blob:none.allow': 'true',
  'uploadpackfilter.blob:limit.allow': 'true',
  'uploadpackfilter.tree.allow': 'true',
  'uploadpackfilter.tree.maxDepth': '0',
  // checkWants() has checked the wants.
  'uploadpack.allowAnySHA1InWant': 'true',
  'pack.threads': '1',
  // New deltas would not make assets smaller. Existing deltas are sent unchanged.
  'pack.window': '0',
};

interface Search {
  readonly git: GitCommand;
  readonly mirror: Mirror;
  readonly limits: Limits;
}

/** A request of a client, and what it may see of the mirror. */
interface ClientTask extends Search {
  /** The mirror has all their heads. */
  readonly branches: BranchHeads;
  /** Commits that are served too, although a sync has moved their branches since then. */
  readonly formerHeads: () => Promise<readonly string[]>;
  /** Undefined for the capabilities of the service. */
  readonly request: UploadPackRequest | undefined;
}

/**
 * Throws if the request is for objects that are not published. Between the requests of one clone, a sync may move a
 * branch, so its former commit is published too.
 */
async function checkWants(task: ClientTask): Promise<void> {
  const { wants = [] } = task.request ?? {};
  const heads = new Set(task.branches.values());
  if (wants.every((id) => heads.has(id))) return;
  const former = await task.formerHeads();
  if (await arePublished(task, wants, [...heads, ...former])) return;
  const moved = new Set(former).intersection(new Set(wants));
  if ((await missingCommits(task, moved)).size > 0) {
    throw new GitError('incomplete', 'A branch was replaced while it was being cloned. Try again.');
  }
  const [one = ''] = wants;
  const what = wants.length === 1 ? `The object ${one} is` : `Some of the ${wants.length} requested objects are`;
  throw new GitError('not-published', `${what} not in any synced branch. Sync the branch that has what you need.`);
}

/**
 * Which of these commits the mirror lacks. One that it has is complete: git makes a pack visible only with all objects
 * that were missing for its commits. It stays, so each is looked for until it was found.
 */
export async function missingCommits(search: Search, commits: Iterable<string>): Promise<ReadonlySet<string>> {
  const { repository } = search.mirror;
  const created = await unlessMissing(stat(join(repository, 'HEAD')));
  // The operator may remove a mirror, which is then created again with less.
  const key = (commit: string): string => `${repository} ${created?.ino} ${created?.ctimeMs} ${commit}`;
  const asked = new Set([...commits].filter((commit) => created === undefined || !foundCommits.has(key(commit))));
  const found = await typesOf(search, [...asked]);
  for (const commit of found.keys()) remember(foundCommits, key(commit), true, maxRemembered);
  return asked.difference(new Set(found.keys()));
}

const foundCommits = new Map<string, true>();
const maxRemembered = 10_000;

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

async function typesOf({ git, mirror, limits }: Search, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { repository } = mirror;
  if (ids.length === 0 || !(await isRepository(repository))) return new Map();
  const found = await lookUp(inRepository(git, repository), ids, { limits, inBackground: true });
  return new Map(found.flatMap((each) => (each === undefined ? [] : [[each.id, each.type] as const])));
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
