import { expect, test } from 'vitest';
import type { GitCommand } from '../../../src/service/git/git-command.ts';
import { readSmallBlobs } from '../../../src/service/git/lfs.ts';
import { enoughTime } from '../../support/git-service.ts';

test('the small files of a commit are read in batches, so that any number of them needs little memory', async () => {
  const ids = Array.from({ length: 25_000 }, (_, index) => index.toString(16).padStart(40, '0'));
  const batches: number[] = [];
  const git: GitCommand = async (args, { input, onOutput }) => {
    if (args.includes('ls-tree')) {
      for (let at = 0; at < ids.length; at += 500) {
        const lines = ids.slice(at, at + 500).map((id) => `blob 2 ${id} file ${id}\n`);
        await onOutput?.(Buffer.from(lines.join('')));
      }
    } else {
      const asked = String(Buffer.from(input ?? []))
        .trim()
        .split('\n');
      batches.push(asked.length);
      await onOutput?.(Buffer.from(asked.map((id) => `${id} blob 2\nhi\n`).join('')));
    }
    return '';
  };
  const read: string[] = [];
  await readSmallBlobs(git, 'main', enoughTime, (path, content) => read.push(`${path} ${content}`));
  expect(read).toEqual(ids.map((id) => `file ${id} hi`));
  expect(batches).toEqual([10_000, 10_000, 5_000]);
});
