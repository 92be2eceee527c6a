import { describe, expect, test } from 'vitest';
import type { GitHub } from '../../../src/action/changed-files/github.ts';
import { pullRequestFiles } from '../../../src/action/changed-files/listed-files.ts';
import type { Json } from '../../../src/client/json.ts';

interface State {
  readonly head?: string;
  readonly base?: string;
  readonly count: number;
}

const answerOf = ({ head = 'a', base = 'b', count }: State): Json => ({
  head: { sha: head },
  base: { sha: base },
  changed_files: count,
});

const named = (...names: readonly string[]): Json => names.map((filename) => ({ filename, status: 'modified' }));

/** Each question is answered with the next of its answers, and then with the last again and again. */
function gitHubOf(states: readonly State[], lists: readonly (readonly Json[])[]) {
  let asked = 0;
  let listed = 0;
  const gitHub: GitHub = {
    read: async () => {
      asked += 1;
      return answerOf(states[Math.min(asked, states.length) - 1] ?? { count: 0 });
    },
    async *pages() {
      listed += 1;
      yield* lists[Math.min(listed, lists.length) - 1] ?? [];
    },
  };
  return { gitHub, timesListed: () => listed };
}

async function filesOf(states: readonly State[], lists: readonly (readonly Json[])[]) {
  const { gitHub, timesListed } = gitHubOf(states, lists);
  const pauses: number[] = [];
  const files = await pullRequestFiles(gitHub, 7, async (ms) => void pauses.push(ms));
  return { names: files.map(({ name }) => name), timesListed: timesListed(), pauses: pauses.length };
}

describe('the list of a pull request', () => {
  test('that is as long as its count is read once', async () => {
    expect(await filesOf([{ count: 3 }], [[named('a', 'b'), named('c')]])).toEqual({
      names: ['a', 'b', 'c'],
      timesListed: 1,
      pauses: 0,
    });
  });

  test.each<[string, State]>([
    ['its head moves', { head: 'another', count: 1 }],
    ['its base moves', { base: 'another', count: 1 }],
    ['its count changes', { count: 2 }],
  ])('is read anew where %s meanwhile', async (_name, later) => {
    const after = { ...later, count: 1 };
    const states = later.count === 1 ? [{ count: 1 }, after] : [later, { count: 1 }];
    expect(await filesOf(states, [[named('old')], [named('new')]])).toEqual({
      names: ['new'],
      timesListed: 2,
      pauses: 1,
    });
  });

  test('is read anew where it is behind the count', async () => {
    const { names, timesListed } = await filesOf([{ count: 2 }], [[named('a')], [named('a', 'b')]]);
    expect(names).toEqual(['a', 'b']);
    expect(timesListed).toBe(2);
  });

  test('that stays behind the count is an error, and an entry that is there twice does not hide it', async () => {
    await expect(filesOf([{ count: 3 }], [[named('a', 'b'), named('b')]])).rejects.toThrow(
      'GitHub says that it changes 3 files, and lists 2. Run the job again, or name the files with `path`.',
    );
  });

  test('that never stays the same is an error', async () => {
    const states = Array.from({ length: 20 }, (_, number) => ({ head: `${number}`, count: 1 }));
    await expect(filesOf(states, [[named('a')]])).rejects.toThrow(
      'It did not stay the same while its files were listed. Run the job again',
    );
  });

  test.each([
    ['is no list', { message: 'x' }],
    ['has an entry without a name', [{ filename: 'a' }, { status: 'modified' }]],
    ['has an entry that is none', [{ filename: 'a' }, null]],
  ])('that %s is an error', async (_name, list) => {
    await expect(filesOf([{ count: 1 }], [[list]])).rejects.toThrow('a list of files that cannot be read');
  });
});
