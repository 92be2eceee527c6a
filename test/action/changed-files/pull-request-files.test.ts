import { describe, expect, test } from 'vitest';
import { type GitHub, pullRequestFiles } from '../../../src/action/changed-files/changed-files.ts';
import type { Json } from '../../../src/client/json.ts';

const named = (...names: readonly string[]): Json => names.map((filename) => ({ filename, status: 'modified' }));

async function filesOf(count: Json, ...pages: readonly Json[]): Promise<readonly string[]> {
  const read: GitHub['read'] = async (_path, { page }) =>
    page === undefined ? { changed_files: count } : (pages[Number(page) - 1] ?? []);
  return (await pullRequestFiles({ read }, 7)).map(({ name }) => name);
}

describe('the file list of a pull request', () => {
  test('is complete if it is as long as the count', async () => {
    expect(await filesOf(3, named('a', 'b'), named('c'))).toEqual(['a', 'b', 'c']);
  });

  const unreadable = 'a list of files that cannot be read';

  test.each<[string, Json, readonly Json[], string]>([
    [
      'is shorter than the count, not counting duplicates',
      3,
      [named('a', 'b'), named('b')],
      'GitHub reports 3 changed files, but lists 2. Run the job again, or name the files with `path`.',
    ],
    ['may be longer than GitHub lists', 3_001, [], 'It changes 3,001 files, and GitHub lists at most 3,000.'],
    ['has no count', null, [named('a')], 'did not return the number of changed files'],
    ['is not a list', 1, [{ message: 'x' }], unreadable],
    ['has an entry without a name', 1, [[{ filename: 'a' }, { status: 'modified' }]], unreadable],
    ['has an entry that is not an object', 1, [[{ filename: 'a' }, null]], unreadable],
  ])('is an error if it %s', async (_name, count, pages, words) => {
    await expect(filesOf(count, ...pages)).rejects.toThrow(words);
  });
});
