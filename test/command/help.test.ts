import { describe, expect, test } from 'vitest';
import { flagName } from '../../src/command/flags.ts';
import { allCommands } from '../../src/main.ts';
import { runCommand } from '../support/service-process.ts';
import { readOnly, runMain } from './run-main.ts';

const named = (await allCommands()).map((command) => ({ command, name: command.name, words: command.name.split(' ') }));

test.each(named)(
  'workspace-service $name has help for all its flags, and an example that it accepts',
  async ({ command, name, words }) => {
    const { code, stdout, stderr } = await runMain([...words, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.split('\n');
    // The example is one line, so that it can be copied.
    for (const line of lines.filter((each) => !each.startsWith('  workspace-service '))) {
      expect(line.length, line).toBeLessThanOrEqual(100);
    }
    const inOneLine = stdout.replaceAll(/\s+/g, ' ');
    expect(lines[0]).toMatch(
      new RegExp(`^Usage: workspace-service ${name}\\b.* \\[flags\\]( -- <COMMAND>\\.\\.\\.)?$`),
    );
    for (const { placeholder } of Object.values(command.arguments)) expect(stdout).toContain(`  ${placeholder} `);
    for (const [flag, { description, otherwise }] of Object.entries(command.flags)) {
      expect(inOneLine).toMatch(
        new RegExp(` --${flagName(flag)} (<\\S+> )?${RegExp.escape(`${description} (${otherwise})`)}`),
      );
    }
    expect(stdout).toContain(`Example:\n  workspace-service ${name} ${command.example}`.trimEnd());
    expect(await readOnly([...words, ...command.example.split(' ').filter(Boolean)])).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  },
);

describe.each([
  { words: [], its: named },
  { words: ['token'], its: named.filter(({ name }) => name.startsWith('token ')) },
  { words: ['token', 'create'], its: [] },
])('workspace-service $words', ({ words, its }) => {
  test('prints the same help for --help, -h, and "help" before the words', async () => {
    const help = await runMain([...words, '--help']);
    expect(help.code).toBe(0);
    for (const { name, command } of its) {
      expect(help.stdout.replaceAll(/\s+/g, ' ')).toContain(` ${name} ${command.summary} `);
    }
    for (const args of [
      [...words, '-h'],
      ['help', ...words],
    ]) {
      expect(await runMain(args), args.join(' ')).toEqual(help);
    }
  });

  test.skipIf(its.length === 0)('requires a command', async () => {
    const { code, stdout, stderr } = await runMain(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`Usage: ${['workspace-service', ...words].join(' ')} <command>`);
  });
});

test.each([
  [['sevre'], 'Did you mean serve?'],
  [['tokens'], 'Did you mean token?'],
  [['token', 'craete'], 'Did you mean token create?'],
  [['workspace', 'rm'], 'See: workspace-service workspace --help'],
  [['--json', 'token', 'list'], 'There is no command "--json"'],
  [['token', 'craete', '--help'], 'Did you mean token create?'],
  [['sevre', '-h'], 'Did you mean serve?'],
  [['help', 'tokne'], 'Did you mean token?'],
  [['\u001b[2J'], '"\\u{1b}[2J"'],
  [['wsa_s3cret'], '"wsa_***"'],
  [['token', 'wsa_s3cret'], '"token wsa_***"'],
])('an unknown command is rejected: %j', async (args, hint) => {
  const { code, stdout, stderr } = await runMain(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(hint);
});

test('the help keeps the indentation of a list whose lines wrap', async () => {
  const { stdout } = await runMain(['token', 'create', '--help']);
  expect(stdout).toMatch(/\nScopes:\n(?: {2}[a-z]+.*\n)+\nFlags:\n/);
});

test('the installed command matches the tested one, and prints its version and its revision', async () => {
  const args = ['token', 'create', '--nonsense'];
  expect(await runCommand(args)).toEqual(await runMain(args));
  const { version } = (await import('../../package.json', { with: { type: 'json' } })).default;
  const { stdout, ...rest } = await runCommand(['--version']);
  expect(rest).toEqual({ code: 0, stderr: '' });
  expect(stdout.replace(version, 'VERSION')).toMatch(/^VERSION \(revision ([0-9a-f]{12}(-dirty)?|unknown)\)\n$/);
});
