import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { filesBetween, type GitHub, type ListedFile } from '../../../src/action/changed-files/changed-files.ts';
import { asObject, isObject, type Json } from '../../../src/client/json.ts';
import { changedPaths, createHistory, type History, type Tree } from '../../support/other-servers/github-history.ts';
import { runs } from '../../support/runs.ts';

// JSON has no other values than these.
const asSent = (body: object): Json => JSON.parse(JSON.stringify(body)) as Json;

/** GitHub without a network in between. */
function gitHubOf(history: History): GitHub & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    async read(path, { base, head, tree, per_page: perPage, recursive }) {
      asked.push(recursive === undefined ? path : `${path} recursive`);
      const body =
        tree === undefined
          ? history.comparison(String(base), String(head), Number(perPage))
          : history.gitTree(String(tree), recursive !== undefined);
      if (body === undefined) throw new Error('Not Found');
      return asSent(body);
    },
  };
}

const namesOf = (files: readonly ListedFile[]): ReadonlySet<string> =>
  new Set(files.flatMap(({ name, before }) => (before === undefined ? [name] : [name, before])));

const blocks = 4;
const inABlock = 160;

/** Each block of files in its own version: two blocks that differ are more than a comparison lists. */
const treeOf = (...versions: readonly number[]): Tree =>
  new Map(
    versions.flatMap((version, block) =>
      Array.from({ length: version === 0 ? 0 : inABlock }, (_, file): [string, string] => [
        `${block}/${file}`,
        `${block}/${file}/${version}`,
      ]),
    ),
  );

describe('the files of a comparison', () => {
  /** Any history: each commit has one or two of those before it as parents, and any files, whatever these have. */
  const steps = fc.array(
    fc.record({
      versions: fc.array(fc.nat(2), { minLength: blocks, maxLength: blocks }),
      parents: fc.array(fc.nat(20), { minLength: 1, maxLength: 2 }),
    }),
    { minLength: 1, maxLength: 9 },
  );

  /** A history with its last commit and any other, on a server that truncates long lists of files. */
  const anyTwo = fc
    .tuple(steps, fc.nat(20), fc.constantFrom(100_000, blocks * inABlock, inABlock))
    .map(([given, any, maxTreeEntries]) => {
      const history = createHistory({ maxTreeEntries });
      const commits = [history.commit(treeOf(1, 1, 1, 1))];
      for (const { versions, parents } of given) {
        const of = parents.map((parent) => commits[parent % commits.length] ?? '');
        commits.push(history.commit(treeOf(...versions), ...new Set(of)));
      }
      return { history, base: commits[any % commits.length] ?? '', head: commits.at(-1) ?? '' };
    });

  test('include exactly the files that differ, regardless of merges', async () => {
    await fc.assert(
      fc.asyncProperty(anyTwo, async ({ history, base, head }) => {
        const common = history.mergeBase(base, head) ?? '';
        const since = await filesBetween(gitHubOf(history), base, head, true);
        expect(namesOf(since)).toEqual(changedPaths(history.treeOf(common), history.treeOf(head)));
        const between = await filesBetween(gitHubOf(history), base, head);
        expect(namesOf(between)).toEqual(changedPaths(history.treeOf(base), history.treeOf(head)));
      }),
      { numRuns: runs(100, 5_000) },
    );
  });

  test('take one request for a small push', async () => {
    const history = createHistory();
    const before = history.commit(new Map(Object.entries({ a: '1', b: '1', old: '2' })));
    const after = history.commit(new Map(Object.entries({ a: '2', c: '1', new: '2' })), before);
    const gitHub = gitHubOf(history);
    expect(namesOf(await filesBetween(gitHub, before, after))).toEqual(new Set(['a', 'b', 'c', 'old', 'new']));
    expect(gitHub.asked).toEqual(['compare/{base}...{head}']);
  });

  test('take two more requests for a large push', async () => {
    const history = createHistory();
    const before = history.commit(treeOf(1, 1, 1, 1));
    const after = history.commit(treeOf(2, 1, 2, 1), before);
    const gitHub = gitHubOf(history);
    expect(namesOf(await filesBetween(gitHub, before, after)).size).toBe(2 * inABlock);
    expect(gitHub.asked).toEqual([
      'compare/{base}...{head}',
      'git/trees/{tree} recursive',
      'git/trees/{tree} recursive',
    ]);
  });

  test('include a folder that became a file, a changed mode and a submodule', async () => {
    const blob = (path: string, sha: string) => ({ path, sha, mode: '100644', type: 'blob' });
    const trees = {
      one: [
        { path: 'a', sha: '1', mode: '040000', type: 'tree' },
        blob('a/b', '2'),
        blob('run', '3'),
        blob('same', '4'),
      ],
      two: [
        blob('a', '5'),
        { ...blob('run', '3'), mode: '100755' },
        blob('same', '4'),
        { path: 'engine', sha: '6', mode: '160000', type: 'commit' },
      ],
    };
    const gitHub: GitHub = {
      ...gitHubOf(createHistory()),
      read: async (_path, { tree }) =>
        asSent(
          tree === undefined
            ? { status: 'diverged', merge_base_commit: { sha: 'none' }, files: [] }
            : { tree: tree === 'one' ? trees.one : trees.two, truncated: false },
        ),
    };
    expect(namesOf(await filesBetween(gitHub, 'one', 'two'))).toEqual(new Set(['a', 'a/b', 'run', 'engine']));
  });

  test('are an error if GitHub truncates the list of a single folder', async () => {
    const history = createHistory({ maxTreeEntries: 1 });
    const before = history.commit(treeOf(1, 1, 1, 1));
    const after = history.commit(treeOf(2, 2, 2, 2), before);
    const gitHub = gitHubOf(history);
    const truncated: GitHub = {
      ...gitHub,
      read: async (path, parameters) => {
        const body = await gitHub.read(path, parameters);
        return isObject(body) && String(body['sha']) !== before && String(body['sha']) !== after
          ? { ...body, truncated: true }
          : body;
      },
    };
    await expect(filesBetween(truncated, before, after)).rejects.toThrow(
      /^GitHub lists only some of the files of [0-3]\/\. Name the files with `path` instead\.$/,
    );
  });

  const unreadable =
    'GitHub sent a list of files that cannot be read. Run the job again, or name the files with `path`.';

  test.each([
    ['a comparison without a list of files', { files: null }, unreadable],
    ['a file without a name', { files: [{ status: 'added' }] }, unreadable],
    ['a comparison without a merge base', { merge_base_commit: null }, 'GitHub did not return the merge base'],
    ['a tree without entries', { tree: null }, unreadable],
    ['an entry without a path', { tree: [{ sha: '1', mode: '100644', type: 'blob' }] }, unreadable],
  ])('are an error if GitHub sends %s', async (_name, wrong, words) => {
    const history = createHistory();
    const before = history.commit(treeOf(1, 1, 1, 1));
    const after = history.commit(treeOf(2, 2, 2, 2), before);
    const gitHub = gitHubOf(history);
    const read: GitHub['read'] = async (...asked) => ({
      ...asObject(await gitHub.read(...asked)),
      ...asObject(asSent(wrong)),
    });
    await expect(filesBetween({ ...gitHub, read }, before, after)).rejects.toThrow(words);
  });
});
