import { describe, expect, test } from 'vitest';
import { pullRequestFiles } from '../../../src/action/changed-files/listed-files.ts';
import type { Json } from '../../../src/client/json.ts';

interface State {
  readonly head?: string;
  readonly base?: string;
  readonly count: number;
}

const named = (...names: readonly string[]): Json => names.map((filename) => ({ filename, status: 'modified' }));

/** Each request for the state gets the next one, and then the last one again. */
async function filesOf(states: readonly State[], pages: readonly Json[]) {
  let asked = 0;
  const gitHub = {
    async read(): Promise<Json> {
      asked += 1;
      const { head = 'a', base = 'b', count } = states[Math.min(asked, states.length) - 1] ?? { count: 0 };
      return { head: { sha: head }, base: { sha: base }, changed_files: count };
    },
    async *pages() {
      yield* pages;
    },
  };
  return (await pullRequestFiles(gitHub, 7)).map(({ name }) => name);
}

describe('the file list of a pull request', () => {
  test('has the files of all pages', async () => {
    expect(await filesOf([{ count: 3 }], [named('a', 'b'), named('c')])).toEqual(['a', 'b', 'c']);
  });

  const changed = 'It changed while its files were listed. Run the job again';

  test.each<[string, readonly State[], readonly Json[], string]>([
    [
      'is shorter than the count, not counting duplicates',
      [{ count: 3 }],
      [named('a', 'b'), named('b')],
      'GitHub reports 3 changed files, but lists 2. Run the job again, or name the files with `path`.',
    ],
    ['is older than the head', [{ count: 1 }, { count: 1, head: 'another' }], [named('a')], changed],
    ['is older than the base', [{ count: 1 }, { count: 1, base: 'another' }], [named('a')], changed],
    ['is older than the count', [{ count: 2 }, { count: 1 }], [named('a')], changed],
    ['is not a list', [{ count: 1 }], [{ message: 'x' }], 'a list of files that cannot be read'],
    [
      'has an entry that is not an object',
      [{ count: 1 }],
      [[{ filename: 'a' }, null]],
      'a list of files that cannot be read',
    ],
  ])('is an error if it %s', async (_name, states, list, words) => {
    await expect(filesOf(states, list)).rejects.toThrow(words);
  });
});
