import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { accepted, refused } from '../../../src/interface/parsed.ts';
import { type Call, defineCommand } from '../../../src/service/cli/command.ts';
import {
  list,
  optional,
  required,
  requiredList,
  toggle,
  variableOf,
  withDefault,
} from '../../../src/service/cli/flags.ts';
import { wholeNumber } from '../../../src/service/cli/values.ts';
import { readOnly } from './run-main.ts';

const text = (what: string) => ({ placeholder: 'X', what });
const word = (typed: string) => (/^[a-z]+$/.test(typed) ? accepted(typed) : refused('It must be a word.'));

type Seen = Pick<Call<never, never>, 'flags' | 'arguments'>;

/** What a command is run with, or what is told on stderr when it is not. */
async function read(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<unknown> {
  const seen: Seen[] = [];
  const play = defineCommand({
    name: 'game play',
    summary: 'play a game',
    details: [],
    example: '',
    arguments: { place: { placeholder: 'PLACE', what: 'where to play', parse: word } },
    flags: {
      name: required(text('who plays'), word),
      friend: optional(text('who else'), 'default nobody', word),
      port: withDefault(text('the port'), '80', wholeNumber(0, 100)),
      colours: list(text('what is worn'), 'default none', word),
      toys: requiredList(text('what is played with'), word),
      remote: optional({ ...text('from where'), secret: true }, 'default nowhere', word),
      loud: toggle('be loud'),
      'no-light': toggle('play in the dark'),
    },
    async run({ flags, arguments: values }) {
      seen.push({ flags, arguments: values } as Seen);
    },
  });
  const result = await readOnly(['game', 'play', ...args], environment, { commands: [play] });
  if (result.code === 0) return seen[0] ?? result.stdout;
  expect(result).toMatchObject({ code: 2, stdout: '' });
  const lines = result.stderr.split('\n');
  expect(lines.slice(-2)).toEqual(['See: workspace-service game play --help', '']);
  return lines.slice(0, -2).map((line) => line.replace(/^workspace-service: /, ''));
}

const enough = ['here', '--name', 'ada', '--toys', 'ball'];

describe('a command line', () => {
  test('gives each flag the type of its reader, and its default', async () => {
    expect(await read(enough)).toEqual({
      arguments: { place: 'here' },
      flags: {
        name: 'ada',
        friend: null,
        port: 80,
        colours: [],
        toys: ['ball'],
        remote: null,
        loud: false,
        'no-light': false,
      },
    });
    expect(await read([...enough, '--no-light', '--loud'])).toMatchObject({ flags: { loud: true, 'no-light': true } });
  });

  test('takes a value behind the flag, with an equals sign, or from the environment alike', async () => {
    const value = fc.integer({ min: 0, max: 100 }).map(String);
    await fc.assert(
      fc.asyncProperty(value, async (port) => {
        const expected = expect.objectContaining({ flags: expect.objectContaining({ port: Number(port) }) });
        expect(await read([...enough, '--port', port])).toEqual(expected);
        expect(await read([`--port=${port}`, ...enough])).toEqual(expected);
        expect(await read(enough, { WORKSPACE_SERVICE_PORT: port })).toEqual(expected);
      }),
    );
  });

  test('wins over the environment, for switches too', async () => {
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

  test('takes lists by comma and by repetition, and from the environment by comma', async () => {
    const colours = ['red', 'green', 'blue'];
    expect(await read([...enough, '--colours', 'red, green', '--colours=blue'])).toMatchObject({ flags: { colours } });
    expect(await read(enough, { WORKSPACE_SERVICE_COLOURS: 'red,green,blue' })).toMatchObject({ flags: { colours } });
  });

  test.each([
    ['true', true],
    ['1', true],
    ['false', false],
    ['0', false],
  ])('reads the switch %s in the environment', async (value, loud) => {
    expect(await read(enough, { WORKSPACE_SERVICE_LOUD: value })).toMatchObject({ flags: { loud } });
  });

  test.each(['yes', 'TRUE', 'on', '2', ' '])(
    'refuses the switch "%s" in the environment by its name',
    async (value) => {
      expect(await read(enough, { WORKSPACE_SERVICE_LOUD: value })).toEqual([
        `WORKSPACE_SERVICE_LOUD is "${value}". It must be true, false, 1 or 0.`,
      ]);
    },
  );

  test('takes an empty variable for none', async () => {
    expect(await read(enough, { WORKSPACE_SERVICE_PORT: '', WORKSPACE_SERVICE_LOUD: '' })).toEqual(await read(enough));
  });

  test('ignores the variables of other commands', async () => {
    expect(await read(enough, { WORKSPACE_SERVICE_REST: 'x', PORT: '7' })).toEqual(await read(enough));
  });

  test('tells everything that is wrong at once', async () => {
    expect(
      await read(['here', 'there', '--nam', 'ada', '--port', '101', '--toys', 'b4ll,car,', '--friend'], {
        WORKSPACE_SERVICE_LOUD: 'maybe',
      }),
    ).toEqual([
      '"--nam" is not a flag of "game play". Did you mean --name?',
      '--friend needs a value: who else. Write it as --friend=X.',
      '--name is missing: who plays.',
      '--port is "101". It must be a whole number from 0 to 100.',
      '--toys is "b4ll". It must be a word.',
      '--toys is "". It must be a word.',
      'WORKSPACE_SERVICE_LOUD is "maybe". It must be true, false, 1 or 0.',
      '"there" is an unexpected argument: "game play" takes PLACE.',
    ]);
  });

  test('does not take the next flag for a value', async () => {
    expect(await read(['here', '--name', '--toys', 'ball'])).toEqual([
      '--name needs a value: who plays. Write it as --name=X.',
    ]);
    expect(await read([...enough, '--port=-5'])).toEqual(['--port is "-5". It must be a whole number from 0 to 100.']);
  });

  test('refuses a second value where there is room for one', async () => {
    expect(await read([...enough, '--port=1', '--port=2'])).toEqual([
      '--port is set more than once, and takes one value.',
    ]);
  });

  test('never repeats a value that may be secret', async () => {
    expect(await read([...enough, '--remote=s3cret1'])).toEqual(['--remote cannot be used. It must be a word.']);
    expect(await read(enough, { WORKSPACE_SERVICE_REMOTE: 's3cret2' })).toEqual([
      'WORKSPACE_SERVICE_REMOTE cannot be used. It must be a word.',
    ]);
  });

  test.each([['--help'], ['-h'], ['help'], ['here', '--nonsense', '-h']])('asks for help with %s', async (...args) => {
    expect(await read(args)).toMatch(/^Usage: workspace-service game play <PLACE> \[flags\]\n/);
  });

  test.each(['__proto__', 'constructor', 'toString'])('does not know the flag --%s', async (name) => {
    expect(await read([...enough, `--${name}`])).toHaveLength(1);
    expect(await read([...enough, `--${name}=x`])).toHaveLength(1);
  });

  test('takes what stands behind -- for an argument', async () => {
    expect(await read(['--name=ada', '--toys=ball', '--', 'help'])).toMatchObject({ arguments: { place: 'help' } });
  });
});

test('a flag is named after its variable', async () => {
  expect(variableOf('allow-hook-network')).toBe('WORKSPACE_SERVICE_ALLOW_HOOK_NETWORK');
});
