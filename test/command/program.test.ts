import { describe, expect, test } from 'vitest';
import { defineCommand } from '../../src/command/command.ts';
import { list, optional, required, toggle, withDefault } from '../../src/command/flags.ts';
import { accepted, refused, wholeNumber } from '../../src/interface/parsed.ts';
import { readOnly } from './run-main.ts';

const word = (typed: string) => (/^[a-z]+$/.test(typed) ? accepted(typed) : refused('It must be a word.'));

/** Returns the parsed command line, or the errors on stderr if it is rejected. */
async function read(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<unknown> {
  const seen: unknown[] = [];
  const play = defineCommand({
    name: 'game play',
    summary: 'play a game',
    example: '',
    arguments: { place: required('PLACE', 'where to play', word) },
    flags: {
      name: required('X', 'who plays', word),
      friend: optional('X', 'who else', word, 'default nobody'),
      port: withDefault('X', 'the port', wholeNumber(0, 100), '80'),
      colours: list('X', 'what is worn', word),
      toys: list('X', 'what is played with', word, 'required'),
      remote: required('X', 'from where', word, { secret: true }),
      loud: toggle('be loud'),
      noLight: toggle('play in the dark'),
    },
    async run({ flags, arguments: values }) {
      seen.push({ flags, arguments: values });
    },
  });
  const result = await readOnly(['game', 'play', ...args], environment, [play]);
  if (result.code === 0) return seen[0] ?? result.stdout;
  expect(result).toMatchObject({ code: 2, stdout: '' });
  const lines = result.stderr.split('\n');
  expect(lines.slice(-2)).toEqual(['See: workspace-service game play --help', '']);
  return lines.slice(0, -2).map((line) => line.replace(/^workspace-service: /, ''));
}

const enough = ['here', '--name', 'ada', '--toys', 'ball', '--remote=there'];

describe('a command line', () => {
  test('parses each flag by its type, and uses its default if its variable is empty', async () => {
    const flags = { name: 'ada', port: 80, colours: [], toys: ['ball'], remote: 'there', loud: false, noLight: false };
    expect(await read(enough)).toEqual({ arguments: { place: 'here' }, flags });
    expect(await read(enough, { WORKSPACE_SERVICE_PORT: '', WORKSPACE_SERVICE_LOUD: '' })).toEqual(await read(enough));
    expect(await read([...enough, '--no-light', '--loud'])).toMatchObject({ flags: { loud: true, noLight: true } });
  });

  test('takes precedence over the environment, for switches too', async () => {
    const environment = {
      WORKSPACE_SERVICE_PORT: '1',
      WORKSPACE_SERVICE_LOUD: 'true',
      WORKSPACE_SERVICE_COLOURS: 'red',
    };
    const flags = { port: 2, loud: false, colours: ['blue'] };
    expect(await read([...enough, '--port=2', '--loud=false', '--colours=blue'], environment)).toMatchObject({ flags });
    expect(await read([...enough, '--port=2'], { WORKSPACE_SERVICE_PORT: 'nonsense' })).toMatchObject({
      flags: { port: 2 },
    });
  });

  test('takes lists separated by commas and from repeated flags, and from the environment by comma', async () => {
    const colours = ['red', 'green', 'blue'];
    expect(await read([...enough, '--colours', 'red, green', '--colours=blue'])).toMatchObject({ flags: { colours } });
    expect(await read(enough, { WORKSPACE_SERVICE_COLOURS: 'red,green,blue' })).toMatchObject({ flags: { colours } });
  });

  test('reads a switch by its value, from the environment too', async () => {
    for (const [value, noLight] of Object.entries({ true: true, 1: true, false: false, 0: false })) {
      expect(await read(enough, { WORKSPACE_SERVICE_NO_LIGHT: value })).toMatchObject({ flags: { noLight } });
    }
    expect(await read(['--loud=maybe', ...enough])).toEqual(['--loud is "maybe". It must be true, false, 1 or 0.']);
    for (const value of ['yes', 'TRUE', 'on', '2', ' ']) {
      expect(await read(enough, { WORKSPACE_SERVICE_NO_LIGHT: value })).toEqual([
        `WORKSPACE_SERVICE_NO_LIGHT is "${value}". It must be true, false, 1 or 0.`,
      ]);
    }
  });

  test('reports all wrong and missing values at once', async () => {
    expect(
      await read(['here', 'there', '--port', '101', '--toys', 'b4ll,car', '--remote=x'], {
        WORKSPACE_SERVICE_LOUD: 'maybe',
      }),
    ).toEqual([
      '--name is missing: who plays.',
      '--port is "101". It must be a whole number from 0 to 100.',
      '--toys is "b4ll". It must be a word.',
      'WORKSPACE_SERVICE_LOUD is "maybe". It must be true, false, 1 or 0.',
      '"there" is an unexpected argument: "game play" takes PLACE.',
    ]);
  });

  test('has no flags with a single dash, although some contain the letter of the help', async () => {
    expect(await read([...enough, '-port', '1'])).toEqual(['There is no flag "-port". Did you mean --port?']);
    expect(await read([...enough, '-path=s3cret'])).toEqual(['There is no flag "-path".']);
    expect(await read([...enough, '-nolight'])).toEqual(['There is no flag "-nolight". Did you mean --no-light?']);
  });

  test.each([['--nam', 'ada'], ['--nam=s3cret']])(
    'suggests a similar flag for an unknown one, without repeating its value: %j',
    async (...typed) => {
      expect(await read([...typed, ...enough])).toEqual(['There is no flag "--nam". Did you mean --name?']);
    },
  );

  test('does not take the next flag for a value', async () => {
    expect(await read(['here', '--remote=x', '--name', '--toys', 'ball'])).toEqual([
      '--name needs a value: who plays. Write it as --name=X.',
    ]);
    expect(await read([...enough, '--port=-5'])).toEqual(['--port is "-5". It must be a whole number from 0 to 100.']);
  });

  test('rejects a second value for a flag that takes one', async () => {
    expect(await read([...enough, '--port=1', '--port=2'])).toEqual([
      '--port is set more than once, but takes only one value.',
    ]);
  });

  test('never repeats a value that may be secret', async () => {
    const [others, reason] = [enough.slice(0, -1), 'cannot be used. It must be a word.'];
    expect(await read([...others, '--remote=s3cret1'])).toEqual([`--remote ${reason}`]);
    const environment = { WORKSPACE_SERVICE_REMOTE: 's3cret2' };
    expect(await read(others, environment)).toEqual([`WORKSPACE_SERVICE_REMOTE ${reason}`]);
  });

  test('prints help for -h even if there are mistakes', async () => {
    expect(await read(['here', '--nonsense', '-h'])).toMatch(/^Usage: workspace-service game play <PLACE> \[flags\]\n/);
  });

  test.each(['__proto__', 'constructor', 'toString'])('does not accept the flag --%s', async (name) => {
    expect(await read([...enough, `--${name}`])).toHaveLength(1);
    expect(await read([...enough, `--${name}=x`])).toHaveLength(1);
  });

  test('treats all words after -- as arguments', async () => {
    const [, ...flags] = enough;
    expect(await read([...flags, '--loud=1', '--', '--loud'])).toEqual(['PLACE is "--loud". It must be a word.']);
    expect(await read([...flags, '--', 'help'])).toMatchObject({ arguments: { place: 'help' } });
  });
});
