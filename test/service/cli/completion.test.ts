import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { leaveOut } from '../../support/left-out.ts';
import { compileCache } from '../../support/service-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runMain } from './run-main.ts';

const command = fileURLToPath(new URL('../../../build/workspace-service.mjs', import.meta.url));

/** Commands that print the completions for these words. The last word is unfinished. */
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

const offers: readonly (readonly [typed: string, offered: readonly string[], program?: string])[] = [
  ['tok', ['token']],
  ['tok', ['token'], '~/workspace-service'],
  ['token ', ['create', 'list', 'revoke']],
  ['token cr', ['create']],
  ['token create --sc', ['--scopes']],
  ['token create --name ada --ex', ['--expires']],
  ['serve --allow-h', ['--allow-hook-network']],
  ['serve --port 80 --allow-h', ['--allow-hook-network']],
];

describe.each(['bash', 'zsh', 'fish'] as const)('%s', (shell) => {
  test('completes commands, subcommands and flags', async (context) => {
    if (spawnSync(shell, ['-c', 'true']).error !== undefined) leaveOut(context, `${shell} is not installed.`);
    const { code, stdout, stderr } = await runMain(['completion', shell], {});
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const folder = temporaryFolder();
    const file = join(folder, 'completion');
    await writeFile(file, stdout);
    const program = `#!/bin/sh\nexec '${process.execPath}' '${command}' "$@"\n`;
    await writeFile(join(folder, 'workspace-service'), program, { mode: 0o700 });
    const env = { ...compileCache, HOME: folder, PATH: `${folder}:${process.env['PATH']}` };
    for (const [typed, offered, name = 'workspace-service'] of offers) {
      const response = await promisify(execFile)(shell, shells[shell](file, [name, ...typed.split(' ')]), { env });
      const words = response.stdout.split('\n').flatMap((line) => line.split('\t')[0] || []);
      expect([name, typed, words.toSorted()]).toEqual([name, typed, offered]);
    }
  });
});
