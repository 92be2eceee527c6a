import { asObject, isArray, type Json, nameIn } from '../../client/json.ts';
import { inParallel } from '../locks/in-parallel.ts';
import { count, grouped } from '../report/words.ts';
import { commitFiles } from './commit-files.ts';
import type { GitHub } from './github.ts';
import { type ListedFile, readFiles } from './listed-file.ts';

/** A comparison has no more files than this, all on its first page: docs.github.com, "Compare two commits". */
const mostCompared = 300;

/** The first parent of each commit, by its id; a root has none. */
type Parents = Map<string, string | undefined>;

function addParents(list: Json | undefined, to: Parents): void {
  const commits = isArray(list) ? list.map(asObject) : [{}];
  for (const { sha, parents } of commits) {
    const commit = nameIn(sha);
    if (commit === undefined) throw new Error('GitHub gave a list of commits that cannot be read.');
    const [first] = isArray(parents) ? parents : [];
    to.set(commit, nameIn(asObject(first)['sha']));
  }
}

interface MainLine {
  readonly commits: readonly string[];
  /** The first one that is not of the comparison: the base has it, too. */
  readonly from: string;
}

/** Back from the head by the first parents, as far as the comparison goes. */
function mainLine(head: string, parents: Parents): MainLine {
  const commits: string[] = [];
  let next: string | undefined = head;
  while (next !== undefined && parents.has(next) && commits.length < parents.size) {
    commits.push(next);
    next = parents.get(next);
  }
  if (next === undefined || commits.length === 0 || parents.has(next)) {
    throw new Error(
      `GitHub lists only ${mostCompared} files of a comparison, and its commits do not lead back from ${head.slice(0, 7)}. Name the files with \`path\` instead.`,
    );
  }
  return { commits, from: next };
}

interface Comparison {
  readonly files: readonly ListedFile[];
  /** The head has all commits that the base has. */
  readonly isAhead: boolean;
}

/**
 * All files that change from the last commit that both sides have to the head. Where these are more than a comparison
 * has, they come from the commits of the main line: GitHub lists of each, also of a merge, in what it differs from its
 * first parent. A main line that begins at another commit than that last common one, as after a merge of the base, also
 * stands for what lies between these two. That may then be more files than there need be, and never fewer.
 */
async function compare(github: GitHub, base: string, head: string): Promise<Comparison> {
  const parents: Parents = new Map();
  let first = asObject(undefined);
  let files: readonly ListedFile[] | undefined;
  for await (const page of github.pages('compare/{base}...{head}', { base, head, per_page: 100 })) {
    if (files === undefined) {
      first = asObject(page);
      files = readFiles(first['files']);
      if (files.length < mostCompared) break;
    }
    addParents(asObject(page)['commits'], parents);
  }
  const { status, total_commits: total, merge_base_commit: mergeBase } = first;
  const isAhead = status === 'ahead' || status === 'identical';
  if (files === undefined || files.length < mostCompared) return { files: files ?? [], isAhead };

  const common = nameIn(asObject(mergeBase)['sha']);
  if (common === undefined || parents.size !== total) {
    const compared = typeof total === 'number' ? count(total, 'commit') : 'an unknown number of commits';
    throw new Error(
      `GitHub compares ${compared}, and lists ${grouped(parents.size)}. Run the job again, or name the files with \`path\`.`,
    );
  }
  const all = [...files];
  const { commits, from } = mainLine(head, parents);
  await inParallel(commits, async (commit) => {
    all.push(...(await commitFiles(github, commit)));
  });
  if (from !== common) all.push(...(await filesBetween(github, from, common)));
  return { files: all, isAhead };
}

/** All files in which the head differs from where it parted from the base. */
export const filesSince = async (github: GitHub, base: string, head: string): Promise<readonly ListedFile[]> =>
  (await compare(github, base, head)).files;

/** All files that differ: of a head that lacks commits of the base, as after a force push, both ways. */
export async function filesBetween(github: GitHub, base: string, head: string): Promise<readonly ListedFile[]> {
  const { files, isAhead } = await compare(github, base, head);
  return isAhead ? files : [...files, ...(await filesSince(github, head, base))];
}
