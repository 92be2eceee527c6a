import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { authorOfTests } from '../support/git-repository.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('a mistake that a test notices is killed, one that none does survives and is reported', () => {
  const folder = temporaryFolder();
  const env = { PATH: process.env['PATH'], ...authorOfTests };
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: folder, env, encoding: 'utf8' }).trim();
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const commit = () => [git('add', '--all'), git('commit', '--quiet', '--message=change')];
  for (const name of ['src', 'test']) mkdirSync(join(folder, name));
  symlinkSync(realpathSync('node_modules'), join(folder, 'node_modules'));
  git('init', '--quiet');
  write('.gitignore', 'node_modules\n');
  write('src/older.ts', 'export const isHigh = (count: number): boolean => count > 5;\n');
  commit();
  const since = git('rev-parse', 'HEAD');
  write(
    'src/limit.ts',
    `type Limit = 5;
     export const isLow = (count: number, limit: Limit): boolean => count < limit;
     export const text = (count: number): string => (count < 2 ? 'lock' : 'locks');`,
  );
  write(
    'test/limit.test.ts',
    `import { expect, test } from 'vitest';
     import { isLow, text } from '../src/limit.ts';
     test('says what is low', () => expect([isLow(4, 5), text(2)]).toEqual([true, 'locks']));`,
  );
  commit();
  const script = resolve('scripts/mutants.ts');
  const mutants = spawnSync(process.execPath, [script, '--since', since, '--report', 'report'], {
    ...{ cwd: folder, env, encoding: 'utf8' },
  });
  const told = mutants.stdout.split('\n').map((line) => line.trim());
  expect(told.toSorted(), mutants.stderr).toEqual(
    [
      'killed   src/limit.ts:2  count < limit → count >= limit  test/limit.test.ts',
      'killed   src/limit.ts:3  count < 2 → count >= 2  test/limit.test.ts',
      'killed   src/limit.ts:3  count < 2 → !(count < 2)  test/limit.test.ts',
      'SURVIVED src/limit.ts:3  2 → 0',
      'src/limit.ts:3  2 → 0',
      '3 of 4 mutants were killed (seed 1).',
      '',
    ].toSorted(),
  );
  expect(mutants.status).toBe(1);
  expect(readFileSync(join(folder, 'report'), 'utf8')).toBe(
    '3 of 4 mutants were killed (seed 1).\n- `src/limit.ts:3  2 → 0`\n',
  );
});
