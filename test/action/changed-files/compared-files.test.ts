import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { GitHub } from '../../../src/action/changed-files/github.ts';
import { filesBetween, filesSince, type ListedFile } from '../../../src/action/changed-files/listed-files.ts';
import type { Json } from '../../../src/client/json.ts';
import { changedPaths, createHistory, type History, type Tree } from '../../support/other-servers/github-history.ts';
import { runs } from '../../support/runs.ts';

// JSON has no other values than these.
const asSent = (body: object): Json => JSON.parse(JSON.stringify(body)) as Json;

/** GitHub without a network in between. */
function gitHubOf(history: History): GitHub & { readonly asked: string[] } {
  const asked: string[] = [];
  function pageOf(path: string, parameters: Readonly<Record<string, string | number>>, number: number) {
    const { base, head, commit, per_page: perPage } = parameters;
    asked.push(`${path} ${number}`);
    const page =
      commit === undefined
        ? history.comparison(String(base), String(head), number, Number(perPage))
        : history.commitPage(String(commit), number);
    if (page === undefined) throw new Error('Not Found');
    return page;
  }
  return {
    asked,
    read: async (path, parameters) => asSent(pageOf(path, parameters, Number(parameters['page'] ?? 1)).body),
    async *pages(path, parameters) {
      for (let number = 1, more = true; more; number += 1) {
        const { body, hasNext } = pageOf(path, parameters, number);
        yield asSent(body);
        more = hasNext;
      }
    },
  };
}

const namesOf = (files: readonly ListedFile[]): ReadonlySet<string> =>
  new Set(files.flatMap(({ name, before }) => (before === undefined ? [name] : [name, before])));

const blocks = 4;
const inABlock = 160;

/** Of each block of files another version: two blocks that differ are more than a comparison lists. */
const treeOf = (...versions: readonly number[]): Tree =>
  new Map(
    versions.flatMap((version, block) =>
      Array.from({ length: version === 0 ? 0 : inABlock }, (_, file): [string, string] => [
        `${block}/${file}`,
        `${block}/${file}/${version}`,
      ]),
    ),
  );

const unseen = (files: readonly ListedFile[], from: Tree, to: Tree): readonly string[] => {
  const seen = namesOf(files);
  return [...changedPaths(from, to)].filter((path) => !seen.has(path));
};

describe('of a history, however it was merged', () => {
  /** Any history: each commit has one or two of those before it as parents, and any files, whatever these have. */
  const steps = fc.array(
    fc.record({
      versions: fc.array(fc.nat(2), { minLength: blocks, maxLength: blocks }),
      parents: fc.array(fc.nat(20), { minLength: 1, maxLength: 2 }),
    }),
    { minLength: 1, maxLength: 9 },
  );

  /** A history with its last commit and any other. */
  const anyTwo = fc.tuple(steps, fc.nat(20)).map(([given, any]) => {
    const history = createHistory();
    const commits = [history.commit(treeOf(1, 1, 1, 1))];
    for (const { versions, parents } of given) {
      const of = parents.map((parent) => commits[parent % commits.length] ?? '');
      commits.push(history.commit(treeOf(...versions), ...new Set(of)));
    }
    return { history, base: commits[any % commits.length] ?? '', head: commits.at(-1) ?? '' };
  });

  test('every file is seen that has changed since it parted from another, or is not the same in that', async () => {
    await fc.assert(
      fc.asyncProperty(anyTwo, async ({ history, base, head }) => {
        const common = history.mergeBase(base, head) ?? '';
        const since = await filesSince(gitHubOf(history), base, head);
        expect(unseen(since, history.treeOf(common), history.treeOf(head))).toEqual([]);
        const between = await filesBetween(gitHubOf(history), base, head);
        expect(unseen(between, history.treeOf(base), history.treeOf(head))).toEqual([]);
      }),
      { numRuns: runs(100, 5_000) },
    );
  });

  test('every file is seen where two branches have merged each other', async () => {
    const history = createHistory();
    const root = history.commit(treeOf(1, 1, 1, 1));
    const one = history.commit(treeOf(1, 1, 1, 2), root);
    const other = history.commit(treeOf(1, 1, 1, 1), root);
    const base = history.commit(treeOf(1, 1, 1, 1), other, one);
    const head = history.commit(treeOf(2, 2, 1, 2), one, other);
    expect(history.mergeBase(base, head)).toBe(other);
    const files = await filesSince(gitHubOf(history), base, head);
    expect(namesOf(files)).toEqual(changedPaths(history.treeOf(other), history.treeOf(head)));
  });

  test('a merge that took nothing of the other side is seen through', async () => {
    const history = createHistory();
    const root = history.commit(treeOf(1, 1, 1, 1));
    const pushed = history.commit(treeOf(1, 1, 1, 2), root);
    const local = history.commit(treeOf(2, 2, 1, 1), root);
    const merge = history.commit(treeOf(2, 2, 1, 1), local, pushed);
    const files = await filesBetween(gitHubOf(history), pushed, merge);
    expect(unseen(files, history.treeOf(pushed), history.treeOf(merge))).toEqual([]);
  });
});

describe('of a push', () => {
  test('that is small, one answer is enough', async () => {
    const history = createHistory();
    const before = history.commit(new Map(Object.entries({ a: '1', b: '1', old: '2' })));
    const after = history.commit(new Map(Object.entries({ a: '2', c: '1', new: '2' })), before);
    const gitHub = gitHubOf(history);
    expect(namesOf(await filesBetween(gitHub, before, after))).toEqual(new Set(['a', 'b', 'c', 'old', 'new']));
    expect(gitHub.asked).toEqual(['compare/{base}...{head} 1']);
  });

  test('of a branch that was merged, only what the merges brought is asked for', async () => {
    const history = createHistory();
    const before = history.commit(treeOf(1, 1, 1, 1));
    let side = before;
    for (const version of [2, 3, 4]) side = history.commit(treeOf(version, 1, version, version), side);
    const after = history.commit(treeOf(4, 1, 4, 4), before, side);
    const gitHub = gitHubOf(history);
    const files = await filesBetween(gitHub, before, after);
    expect(namesOf(files)).toEqual(changedPaths(history.treeOf(before), history.treeOf(after)));
    expect(gitHub.asked).toEqual(['compare/{base}...{head} 1', 'commits/{commit} 1', 'commits/{commit} 2']);
  });
});

describe('what GitHub does not list to its end is an error', () => {
  const big = (files: number, content: string): Tree =>
    new Map(Array.from({ length: files }, (_, file): [string, string] => [`${file}`, `${file}/${content}`]));

  /** So many files, changed by so many commits. */
  function pushOf(files: number, commits = 1) {
    const history = createHistory();
    const before = history.commit(big(files, '1'));
    let after = before;
    for (let version = 2; version < commits + 2; version += 1) after = history.commit(big(files, `${version}`), after);
    return { history, between: (its = history) => filesBetween(gitHubOf(its), before, after) };
  }

  const onlyFirst = ({ comparison, commitPage, ...history }: History, more: object = {}): History => ({
    ...history,
    commitPage: (...asked) => ({ hasNext: false, body: commitPage(...asked)?.body ?? {} }),
    comparison: (...asked) => ({ hasNext: false, body: { ...comparison(...asked)?.body, ...more } }),
  });

  test.each([
    ['3,000 files', 3_000, false, 'GitHub lists 3,000 files of the commit 0000002, and there may be more.'],
    ['2,999 files', 2_999, false, undefined],
    ['300 files, without pages', 300, true, undefined],
    ['301 files, without pages', 301, true, 'lists 300 files of the commit 0000002, and there may be more.'],
    ['600 files, without pages', 600, true, 'lists 300 files of the commit 0000002, and there may be more.'],
  ])('in a commit of %s', async (_name, files, withoutPages, words) => {
    const { history, between } = pushOf(files);
    const listed = between(withoutPages ? onlyFirst(history) : history);
    if (words === undefined) expect(namesOf(await listed).size).toBe(files);
    else await expect(listed).rejects.toThrow(words);
  });

  test('in a comparison that has more commits than it lists', async () => {
    const { history, between } = pushOf(400, 198);
    await expect(between(onlyFirst(history))).rejects.toThrow('GitHub compares 198 commits, and lists 100.');
    expect(namesOf(await between()).size).toBe(400);
  });

  test.each([
    [
      'no list of files',
      { files: undefined },
      'GitHub gave a list of files that cannot be read. Run the job again, or name the files with `path`.',
    ],
    [
      'a file without a name',
      { files: [{ status: 'added' }] },
      'GitHub gave a list of files that cannot be read. Run the job again, or name the files with `path`.',
    ],
    [
      'no list of commits',
      { commits: 'many' },
      'GitHub gave a list of commits that cannot be read. Run the job again, or name the files with `path`.',
    ],
    ['commits that lead nowhere', { commits: [{ sha: 'x', parents: [] }] }, 'do not lead back from'],
    ['no common commit', { merge_base_commit: null }, 'GitHub compares 1 commit, and lists 1.'],
  ])('in an answer with %s', async (_name, wrong, words) => {
    const { history, between } = pushOf(400);
    await expect(between(onlyFirst(history, wrong))).rejects.toThrow(words);
  });
});
