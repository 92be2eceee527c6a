import { inParallel } from '../../client/client.ts';
import { asObject, isArray, isObject, type Json, nameIn } from '../../client/json.ts';
import { formatNumber, pluralize } from '../report/words.ts';
import { retryAdvice } from './change.ts';
import type { GitHub } from './github.ts';

/** A file as GitHub lists it, whether it was changed, added or removed. */
export interface ListedFile {
  readonly name: string;
  /** The previous name of a renamed file. */
  readonly before: string | undefined;
}

/** GitHub lists no more of a pull request: docs.github.com, "List pull requests files". */
const maxPullRequestFiles = 3_000;

/** How often to read a list that changed meanwhile, or is behind the count. */
const maxTurns = 3;
const pauseMs = 1_000;

/**
 * All files of a pull request as it is now. The list is checked against GitHub's count, and read again if somebody has
 * pushed meanwhile: its pages would not fit together.
 */
export async function pullRequestFiles(
  github: GitHub,
  number: number,
  pause: (ms: number) => Promise<void>,
): Promise<readonly ListedFile[]> {
  let seen = 'It did not stay the same while its files were listed.';
  for (let turn = 1; turn <= maxTurns; turn += 1) {
    if (turn > 1) await pause(pauseMs);
    const before = await readState(github, number);
    if (before.changedFiles > maxPullRequestFiles) {
      throw new Error(
        `It changes ${pluralize(before.changedFiles, 'file')}, and GitHub lists at most ${formatNumber(maxPullRequestFiles)}. Split it, or name the files with \`path\` instead.`,
      );
    }
    const files = new Map<string, ListedFile>();
    for await (const page of github.pages('pulls/{number}/files', { number, per_page: 100 })) {
      for (const file of readFiles(page)) files.set(file.name, file);
    }
    const after = await readState(github, number);
    if (after.commits !== before.commits || after.changedFiles !== before.changedFiles) continue;
    if (files.size >= after.changedFiles) return [...files.values()];
    seen = `GitHub says that it changes ${pluralize(after.changedFiles, 'file')}, and lists ${formatNumber(files.size)}.`;
  }
  throw new Error(`${seen} ${retryAdvice}`);
}

async function readState(github: GitHub, number: number) {
  const pull = asObject(await github.read('pulls/{number}', { number }));
  const head = nameIn(asObject(pull['head'])['sha']);
  const base = nameIn(asObject(pull['base'])['sha']);
  const changedFiles = pull['changed_files'];
  if (head === undefined || base === undefined || typeof changedFiles !== 'number') {
    throw new Error(
      `GitHub does not say of the pull request how many files it changes, and between which commits. ${retryAdvice}`,
    );
  }
  return { commits: `${base}...${head}`, changedFiles };
}

/** A comparison has no more files than this, all on its first page: docs.github.com, "Compare two commits". */
const maxComparedFiles = 300;

/** The first parent of each commit, by its id; a root has none. */
type Parents = Map<string, string | undefined>;

/**
 * All files that change between the merge base and the head. If a comparison cannot list them all, they come from the
 * commits of the main line: for each, also for a merge, GitHub lists the difference from its first parent. A main line
 * that begins at another commit than the merge base, as after a merge of the base branch, includes what lies between the
 * two. So there may be more files than necessary, and never fewer. `isAhead`: the head has all commits of the base.
 */
async function compare(
  github: GitHub,
  base: string,
  head: string,
): Promise<{ readonly files: readonly ListedFile[]; readonly isAhead: boolean }> {
  const parents: Parents = new Map();
  let first = asObject(undefined);
  let files: readonly ListedFile[] | undefined;
  for await (const page of github.pages('compare/{base}...{head}', { base, head, per_page: 100 })) {
    if (files === undefined) {
      first = asObject(page);
      files = readFiles(first['files']);
      if (files.length < maxComparedFiles) break;
    }
    addParents(asObject(page)['commits'], parents);
  }
  const { status, total_commits: total, merge_base_commit: mergeBase } = first;
  const isAhead = status === 'ahead' || status === 'identical';
  if (files === undefined || files.length < maxComparedFiles) return { files: files ?? [], isAhead };

  const common = nameIn(asObject(mergeBase)['sha']);
  if (common === undefined || parents.size !== total) {
    const compared = typeof total === 'number' ? pluralize(total, 'commit') : 'an unknown number of commits';
    throw new Error(`GitHub compares ${compared}, and lists ${formatNumber(parents.size)}. ${retryAdvice}`);
  }
  const all = [...files];
  const { commits, from } = mainLine(head, parents);
  await inParallel(commits, async (commit) => {
    all.push(...(await commitFiles(github, commit)));
  });
  if (from !== common) all.push(...(await filesBetween(github, from, common)));
  return { files: all, isAhead };
}

/** All files that differ; both ways if the head lacks commits of the base, as after a force push. */
export async function filesBetween(github: GitHub, base: string, head: string): Promise<readonly ListedFile[]> {
  const { files, isAhead } = await compare(github, base, head);
  return isAhead ? files : [...files, ...(await filesSince(github, head, base))];
}

/** All files that differ between the merge base and the head. */
export const filesSince = async (github: GitHub, base: string, head: string): Promise<readonly ListedFile[]> =>
  (await compare(github, base, head)).files;

function addParents(list: Json | undefined, to: Parents): void {
  const commits = isArray(list) ? list.map(asObject) : [{}];
  for (const { sha, parents } of commits) {
    const commit = nameIn(sha);
    if (commit === undefined) throw new Error(`GitHub gave a list of commits that cannot be read. ${retryAdvice}`);
    const [first] = isArray(parents) ? parents : [];
    to.set(commit, nameIn(asObject(first)['sha']));
  }
}

/**
 * Back from the head by the first parents, as far as the comparison goes: `from` is the first commit outside of it, which
 * the base has, too.
 */
function mainLine(head: string, parents: Parents) {
  const commits: string[] = [];
  let next: string | undefined = head;
  while (next !== undefined && parents.has(next) && commits.length < parents.size) {
    commits.push(next);
    next = parents.get(next);
  }
  if (next === undefined || commits.length === 0 || parents.has(next)) {
    throw new Error(
      `GitHub lists only ${maxComparedFiles} files of a comparison, and its commits do not lead back from ${head.slice(0, 7)}. Name the files with \`path\` instead.`,
    );
  }
  return { commits, from: next };
}

/** Files on one page, and on all pages together: docs.github.com, "Get a commit". */
const commitPageSize = 300;
const maxCommitFiles = 3_000;

/** All files in which a commit differs from its first parent. */
async function commitFiles(github: GitHub, commit: string): Promise<readonly ListedFile[]> {
  const files: ListedFile[] = [];
  let pages = 0;
  for await (const page of github.pages('commits/{commit}', { commit })) {
    files.push(...readFiles(asObject(page)['files']));
    pages += 1;
  }
  const tooMany = new Error(
    `GitHub lists ${formatNumber(files.length)} files of the commit ${commit.slice(0, 7)}, and there may be more. Name the files with \`path\` instead.`,
  );
  if (files.length >= maxCommitFiles) throw tooMany;
  // A server without pagination cuts the list at the end of a page.
  if (files.length > 0 && files.length === pages * commitPageSize) {
    const rest = await github.read('commits/{commit}', { commit, page: pages + 1 });
    if (readFiles(asObject(rest)['files'] ?? []).length > 0) throw tooMany;
  }
  return files;
}

/** Fails on an entry that cannot be read: a file must not be overlooked. */
export function readFiles(list: Json | undefined): readonly ListedFile[] {
  const files = isArray(list) ? list.map(readFile) : [undefined];
  if (!files.every((file) => file !== undefined))
    throw new Error(`GitHub gave a list of files that cannot be read. ${retryAdvice}`);
  return files;
}

function readFile(entry: Json): ListedFile | undefined {
  if (!isObject(entry)) return undefined;
  const name = nameIn(entry['filename']);
  // A copy leaves the original as it is.
  const before = entry['status'] === 'copied' ? undefined : nameIn(entry['previous_filename']);
  return name === undefined ? undefined : { name, before };
}
