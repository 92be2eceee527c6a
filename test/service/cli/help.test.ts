import { describe, expect, test } from 'vitest';
import { commands } from '../../../src/service/cli/commands.ts';
import { variableOf } from '../../../src/service/cli/flags.ts';
import { runCommand } from '../../support/service-process.ts';
import { readOnly, runMain } from './run-main.ts';

const named = commands.map((command) => ({ command, name: command.name, words: command.name.split(' ') }));
const groups = [...new Set(named.flatMap(({ words }) => (words.length > 1 ? words.slice(0, 1) : [])))];

describe.each(named)('workspace-service $name', ({ command, name, words }) => {
  test('tells with --help how it is used, and ends with 0', async () => {
    const { code, stdout, stderr } = await runMain([...words, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n')[0]).toMatch(new RegExp(`^Usage: workspace-service ${name}\\b.* \\[flags\\]$`));
    for (const { placeholder } of Object.values(command.arguments)) expect(stdout).toContain(`  ${placeholder} `);
    for (const [flag, { what, otherwise }] of Object.entries(command.flags)) {
      const line = stdout.split('\n').find((text) => text.startsWith(`  --${flag} `)) ?? '';
      expect(line).toContain(what);
      expect(line).toContain(`(${otherwise}; ${variableOf(flag)})`);
    }
    expect(stdout).toContain(`Example:\n  workspace-service ${name}`);
  });

  test('fits a terminal of 80 columns with its help, and says the same', async () => {
    const narrow = await runMain([...words, '--help'], {}, 80);
    const [words80, wordsOfAll] = [narrow.stdout, (await runMain([...words, '--help'])).stdout].map((text) =>
      text.split(/\s+/),
    );
    expect(words80).toEqual(wordsOfAll);
    // An example is there to be pasted.
    const [help = ''] = narrow.stdout.split('\nExample:');
    for (const line of help.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  });

  test('gives the same help for -h, "help" behind it and "help" before it', async () => {
    const { stdout } = await runMain([...words, '--help']);
    for (const args of [
      [...words, '-h'],
      [...words, 'help'],
      ['help', ...words],
    ]) {
      expect(await runMain(args), args.join(' ')).toEqual({ code: 0, stdout, stderr: '' });
    }
  });

  test('has an example that it would accept', async () => {
    expect(await readOnly([...words, ...command.example.split(' ')])).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('refuses a flag that it does not have with 2, and says where to look', async () => {
    const { code, stdout, stderr } = await runMain([...words, '--nonsense']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^workspace-service: "--nonsense" is not a flag of /);
    expect(stderr.split('\n').at(-2)).toBe(`See: workspace-service ${name} --help`);
  });

  test('says which flag has a wrong value in the environment, and names the variable', async () => {
    const switches = Object.entries(command.flags).filter(([, { placeholder }]) => placeholder === '');
    expect(switches).not.toHaveLength(0);
    for (const [flag] of switches) {
      const { code, stderr } = await runMain(words, { [variableOf(flag)]: 'perhaps' });
      expect(code).toBe(2);
      expect(stderr).toContain(`${variableOf(flag)} is "perhaps". It must be true, false, 1 or 0.`);
    }
  });
});

describe.each([[], ...groups.map((word) => [word])])('workspace-service %s', (...given) => {
  const words = given.filter((word) => word !== undefined);

  test('lists its commands with --help, -h and help', async () => {
    const { code, stdout } = await runMain([...words, '--help']);
    expect(code).toBe(0);
    const its = named.filter(({ name }) => words.length === 0 || name.startsWith(`${words[0]} `));
    for (const { name, command } of its) expect(stdout).toMatch(new RegExp(`^  ${name} +${command.summary}$`, 'm'));
    for (const args of [
      [...words, '-h'],
      [...words, 'help'],
      ['help', ...words],
    ]) {
      expect(await runMain(args), args.join(' ')).toEqual({ code: 0, stdout, stderr: '' });
    }
  });

  test('needs a command', async () => {
    const { code, stdout, stderr } = await runMain(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`Usage: ${['workspace-service', ...words].join(' ')} <command>`);
  });
});

describe('a command that there is not', () => {
  test.each([
    [['sevre'], 'Did you mean serve?'],
    [['tokens'], 'Did you mean token?'],
    [['token', 'craete'], 'Did you mean create?'],
    [['workspace', 'rm'], 'See: workspace-service workspace --help'],
    [['--json', 'token', 'list'], "unknown option '--json'"],
    [['help', 'tokne'], 'Usage: workspace-service <command>'],
    [['\u001b[2J'], "'\\u{1b}[2J'"],
    [['wsa_s3cret'], "'wsa_***'"],
    [['token', 'wsa_s3cret'], "'wsa_***'"],
  ])('is refused: %j', async (args, hint) => {
    const { code, stdout, stderr } = await runMain(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(hint);
  });
});

test('the installed command is the one that is tested here', async () => {
  for (const args of [
    ['token', '--help'],
    ['token', 'create', '--nonsense'],
  ]) {
    expect(await runCommand(args)).toEqual(await runMain(args));
  }
});

test('the version is that of the package', async () => {
  const { version } = await import('../../../package.json', { with: { type: 'json' } }).then((file) => file.default);
  expect(await runCommand(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});
