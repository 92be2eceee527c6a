import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { leaveOut } from '../support/left-out.ts';
import { runMain } from './run-main.ts';

const offers: readonly (readonly [typed: string, offered: readonly string[]])[] = [
  ['tok', ['token']],
  ['token ', ['create', 'list', 'revoke']],
  ['token cr', ['create']],
  ['token create --sc', ['--scopes']],
  ['token create --name ada --ex', ['--expires']],
  ['serve --allow-h', ['--allow-hook-network']],
  ['serve --port 80 --allow-h', ['--allow-hook-network']],
];

/** What each shell runs before the script. Outside of its line editor, zsh registers nothing. */
const shells = { bash: '', zsh: 'autoload -Uz bashcompinit; bashcompinit; complete() { :; }; emulate sh' } as const;

describe.each(['bash', 'zsh'] as const)('%s', (shell) => {
  test('completes commands, subcommands and flags', async (context) => {
    if (spawnSync(shell, ['-c', 'true']).error !== undefined) leaveOut(context, `${shell} is not installed.`);
    const { code, stdout, stderr } = await runMain(['completion'], {});
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const [typed, offered] of offers) {
      const script = `${shells[shell]}
${stdout}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _workspace_service; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const words = ['workspace-service', ...typed.split(' ')];
      const response = await promisify(execFile)(shell, ['-c', script, shell, ...words]);
      // zsh itself chooses those that fit.
      const fitting = response.stdout.split('\n').filter((word) => word !== '' && word.startsWith(words.at(-1) ?? ''));
      expect([typed, fitting.toSorted()]).toEqual([typed, offered]);
    }
  });
});
