import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BranchName } from '../../interface/branch-name.ts';
import { unlessMissing } from '../platform/missing-file.ts';
import { remember } from '../runtime/remember.ts';
import {
  type BranchHeads,
  branchRef,
  createRepository,
  isRepository,
  type Mirror,
  withScratchFolder,
} from './bare-repository.ts';
import { lookUp } from './changes.ts';
import { type GitCommand, inRepository, packSettings } from './git-command.ts';
import { GitError } from './git-error.ts';
import type { Limits } from './run-git.ts';

export interface ServeTask extends Search {
  /** The branches to serve. The mirror has all of their heads. */
  readonly branches: BranchHeads;
  /** The branch that clones check out, if it is served. */
  readonly defaultBranch: BranchName;
  /** Undefined for a request for the list of branches. */
  readonly request: FetchRequest | undefined;
  /** Receives the response in chunks: see `onOutput` in run-git.ts. */
  readonly onOutput: (chunk: Buffer) => Promise<void>;
}

interface FetchRequest {
  /** The body, in version 0 of the protocol: gitprotocol-pack(5). */
  readonly bytes: Buffer;
  /** More commits to serve, because a sync may move a branch between two requests of a clone. */
  readonly formerHeads: readonly string[];
}

/**
 * Serves commits that are contained in the branches or former heads of the task. git checks this only in version 0 of
 * the protocol (upload-pack.c), so it never learns that a client offers a later version.
 */
export async function serveMirror(task: ServeTask): Promise<void> {
  const { git, mirror, limits, branches, defaultBranch, request, onOutput } = task;
  if (request !== undefined) await refuseOtherObjects(task, request);
  let header = request === undefined ? serviceHeader : undefined;
  await withScratchFolder(mirror.scratch, async (folder) => {
    // Has the objects of the mirror, and exactly the branches of the task, even during syncs.
    const view = join(folder, 'published.git');
    await createRepository(view, mirror, defaultBranch);
    const refs = [...branches].map(([name, head]) => `${head} ${branchRef(name)}\n`);
    const former = request?.formerHeads.map((head, index) => `${head} ${formerRefs}/${index}\n`) ?? [];
    await writeFile(join(view, 'packed-refs'), [...refs, ...former].join(''));
    const args = request === undefined ? ['--http-backend-info-refs'] : [];
    await git(['upload-pack', '--strict', '--stateless-rpc', ...args, view], {
      purpose: 'serve the mirror',
      limits,
      repository: view,
      settings: uploadPackSettings,
      onOutput(chunk) {
        const bytes = header === undefined ? chunk : Buffer.concat([header, chunk]);
        header = undefined;
        return onOutput(bytes);
      },
      input: request?.bytes,
    });
  });
}

const formerRefs = 'refs/former';

/** See git-config(1). */
const uploadPackSettings: Readonly<Record<string, string>> = {
  'uploadpack.hideRefs': formerRefs,
  'uploadpack.allowReachableSHA1InWant': 'true',
  ...packSettings,
};

/** Precedes the list of branches: `smart_reply` in gitprotocol-http(5). */
const serviceHeader = Buffer.concat([packet('# service=git-upload-pack\n'), Buffer.from('0000')]);

/** Error that git shows to its user: `error-line` in gitprotocol-pack(5). */
export const errorPacket = (message: string): Buffer => packet(`ERR ${message}`);

/** gitprotocol-common(5): four hexadecimal digits with the length of the packet, including themselves. */
function packet(text: string): Buffer {
  const content = Buffer.from(text);
  return Buffer.concat([Buffer.from((content.length + 4).toString(16).padStart(4, '0')), content]);
}

/** git checks only commits for being ancestors of its branches. It would serve any file or folder by its id. */
async function refuseOtherObjects(task: ServeTask, { bytes, formerHeads }: FetchRequest): Promise<void> {
  const heads = new Set(task.branches.values());
  const wants = bytes.toString('latin1').matchAll(/want ([0-9a-f]{40,64})/gi);
  const others = new Set([...wants].map(([, id = '']) => id.toLowerCase())).difference(heads);
  const missing = await missingOf(task, [...others]);
  const [first] = missing;
  if (first === undefined) return;
  if (formerHeads.includes(first)) {
    throw new GitError('incomplete', 'A branch was replaced while it was being cloned. Try again.');
  }
  const what = missing.size === 1 ? `The commit ${first} is` : `${missing.size} of the requested commits are`;
  throw new GitError('not-published', `${what} not in any synced branch. Sync the right branch first.`);
}

interface Search {
  readonly git: GitCommand;
  readonly mirror: Mirror;
  readonly limits: Limits;
}

/**
 * The commits that the mirror lacks. A commit that it has is complete, because git makes a pack visible only with all
 * objects that its commits lacked. Commits are never removed, so each is looked for only until it is found.
 */
export async function missingCommits(search: Search, commits: Iterable<string>): Promise<ReadonlySet<string>> {
  const { repository } = search.mirror;
  const created = await unlessMissing(stat(join(repository, 'HEAD')));
  // The operator may remove a mirror, which is then recreated with fewer commits.
  const key = (commit: string): string => `${repository} ${created?.ino} ${created?.ctimeMs} ${commit}`;
  const asked = new Set([...commits].filter((commit) => created === undefined || !foundCommits.has(key(commit))));
  const missing = await missingOf(search, [...asked]);
  for (const commit of asked.difference(missing)) remember(foundCommits, key(commit), true, maxRemembered);
  return missing;
}

const foundCommits = new Map<string, true>();
const maxRemembered = 10_000;

async function missingOf({ git, mirror, limits }: Search, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { repository } = mirror;
  if (ids.length === 0 || !(await isRepository(repository))) return new Set(ids);
  const found = await lookUp(inRepository(git, repository), ids, limits);
  return new Set(ids.filter((_, index) => found[index] !== 'commit'));
}
