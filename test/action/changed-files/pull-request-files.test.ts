import { describe, expect, test } from 'vitest';
import { pullRequestFiles } from '../../../src/action/changed-files/listed-files.ts';
import type { Json } from '../../../src/client/json.ts';

interface State {
  readonly head?: string;
  readonly base?: string;
  readonly count: number;
}

const named = (...names: readonly string[]): Json => names.map((filename) => ({ filename, status: 'modified' }));

/** Each request gets the next of its responses, and then the last one again and again. */
async function filesOf(states: readonly State[], ...lists: readonly (readonly Json[])[]) {
  let asked = 0;
  let timesListed = 0;
  let pauses = 0;
  const gitHub = {
    async read(): Promise<Json> {
      asked += 1;
      const { head = 'a', base = 'b', count } = states[Math.min(asked, states.length) - 1] ?? { count: 0 };
      return { head: { sha: head }, base: { sha: base }, changed_files: count };
    },
    async *pages() {
      timesListed += 1;
      yield* lists[Math.min(timesListed, lists.length) - 1] ?? [];
    },
  };
  const files = await pullRequestFiles(gitHub, 7, async () => {
    pauses += 1;
  });
  return { names: files.map(({ name }) => name), timesListed, pauses };
}

const readTwice = { timesListed: 2, pauses: 1 };

describe('the file list of a pull request', () => {
  test('is read once if it is as long as the count', async () => {
    const read = await filesOf([{ count: 3 }], [named('a', 'b'), named('c')]);
    expect(read).toEqual({ names: ['a', 'b', 'c'], timesListed: 1, pauses: 0 });
  });

  test.each<[string, readonly State[]]>([
    ['the head moves', [{ count: 1 }, { count: 1, head: 'another' }]],
    ['the base moves', [{ count: 1 }, { count: 1, base: 'another' }]],
    ['the count changes', [{ count: 2 }, { count: 1 }]],
  ])('is read again if %s meanwhile', async (_name, states) => {
    expect(await filesOf(states, [named('old')], [named('new')])).toEqual({ names: ['new'], ...readTwice });
  });

  test('is read again if it is shorter than the count', async () => {
    const read = await filesOf([{ count: 2 }], [named('a')], [named('a', 'b')]);
    expect(read).toEqual({ names: ['a', 'b'], ...readTwice });
  });

  const changing = Array.from({ length: 20 }, (_, number) => ({ head: `${number}`, count: 1 }));

  test.each<[string, readonly State[], readonly Json[], string]>([
    [
      'stays shorter than the count, not counting duplicates',
      [{ count: 3 }],
      [named('a', 'b'), named('b')],
      'GitHub reports 3 changed files, but lists 2. Run the job again, or name the files with `path`.',
    ],
    ['keeps changing', changing, [named('a')], 'It changed while its files were listed. Run the job again'],
    ['is not a list', [{ count: 1 }], [{ message: 'x' }], 'a list of files that cannot be read'],
    [
      'has an entry without a name',
      [{ count: 1 }],
      [[{ filename: 'a' }, { status: 'modified' }]],
      'a list of files that cannot be read',
    ],
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
