import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../support/git-folders.ts';
import { leaveOut } from '../../support/left-out.ts';
import { runMain } from './run-main.ts';

/** Commands that print the completions for these words, the last of which is unfinished. */
const shells = {
  bash: (file: string, words: readonly string[]) => [
    '--norc',
    '-c',
    `. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _workspace_service; printf '%s\\n' "\${COMPREPLY[@]}"`,
    file,
    ...words,
  ],
  zsh: (file: string, typed: readonly string[]) => [
    '-fc',
    // Outside of its line editor, zsh completes nothing: this stand-in for compadd prints the completions.
    `compdef() { :; }; compadd() { shift; print -l -- \${(M)@:#$last*}; }; file=$1; shift
     . $file; words=("$@"); CURRENT=$#; last=$words[-1]; _workspace_service`,
    'zsh',
    file,
    ...typed,
  ],
  fish: (file: string, words: readonly string[]) => [
    '--no-config',
    '--command',
    'source $argv[1]; complete --do-complete "$argv[2]"',
    file,
    words.join(' '),
  ],
} as const;

const offers: readonly (readonly [typed: string, offered: readonly string[]])[] = [
  ['tok', ['token']],
  ['token ', ['create', 'list', 'revoke']],
  ['token cr', ['create']],
  ['token create --sc', ['--scopes']],
  ['token create --name ada --ex', ['--expires']],
  ['serve --allow-h', ['--allow-hook-network']],
  ['serve --port 80 --allow-h', ['--allow-hook-network']],
  ['completion z', ['zsh']],
];

describe.each(['bash', 'zsh', 'fish'] as const)('%s', (shell) => {
  test('completes commands, subcommands and flags', async (context) => {
    if (spawnSync(shell, ['-c', 'true']).error !== undefined) leaveOut(context, `${shell} is not installed.`);
    const { code, stdout, stderr } = await runMain(['completion', shell], {});
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const file = join(await temporaryFolder(), 'completion');
    await writeFile(file, stdout);
    for (const [typed, offered] of offers) {
      const args = shells[shell](file, ['workspace-service', ...typed.split(' ')]);
      const response = await promisify(execFile)(shell, args);
      const words = response.stdout.split('\n').flatMap((line) => line.split('\t')[0] || []);
      expect([typed, words.toSorted()]).toEqual([typed, offered]);
    }
  });
});
