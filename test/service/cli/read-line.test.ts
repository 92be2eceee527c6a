import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { accepted, refused } from '../../../src/interface/parsed.ts';
import { list, optional, required, requiredList, toggle, withDefault } from '../../../src/service/cli/line/flag.ts';
import { readLine } from '../../../src/service/cli/line/read-line.ts';
import { variableOf } from '../../../src/service/cli/line/shape.ts';
import { wholeNumber } from '../../../src/service/cli/line/values.ts';

const text = (what: string) => ({ placeholder: 'X', what });
const word = (given: string) => (/^[a-z]+$/.test(given) ? accepted(given) : refused('It has to be a word.'));

const shape = {
  name: 'game play',
  arguments: { place: { placeholder: 'PLACE', what: 'where to play', parse: word } },
  flags: {
    name: required(text('who plays'), word),
    friend: optional(text('who else'), 'default nobody', word),
    port: withDefault(text('the port'), '80', wholeNumber(0, 100)),
    colours: list(text('what is worn'), 'default none', word),
    toys: requiredList(text('what is played with'), word),
    remote: optional({ ...text('from where'), secret: true }, 'default nowhere', word),
    loud: toggle('be loud'),
  },
} as const;

const read = (args: readonly string[], environment: NodeJS.ProcessEnv = {}) => readLine(shape, args, environment);

function problemsOf(args: readonly string[], environment: NodeJS.ProcessEnv = {}): readonly string[] {
  const line = read(args, environment);
  return line.kind === 'wrong' ? line.problems : [];
}

const enough = ['here', '--name', 'ada', '--toys', 'ball'];

describe('a command line', () => {
  test('gives each flag the type of its reader, and its default', () => {
    expect(read(enough)).toEqual({
      kind: 'right',
      arguments: { place: 'here' },
      flags: { name: 'ada', friend: null, port: 80, colours: [], toys: ['ball'], remote: null, loud: false },
    });
  });

  test('takes a value behind the flag, with an equals sign, or from the environment alike', () => {
    const value = fc.integer({ min: 0, max: 100 }).map(String);
    fc.assert(
      fc.property(value, (port) => {
        const expected = expect.objectContaining({ flags: expect.objectContaining({ port: Number(port) }) });
        expect(read([...enough, '--port', port])).toEqual(expected);
        expect(read([`--port=${port}`, ...enough])).toEqual(expected);
        expect(read(enough, { WORKSPACE_SERVICE_PORT: port })).toEqual(expected);
      }),
    );
  });

  test('wins over the environment, for switches too', () => {
    const environment = {
      WORKSPACE_SERVICE_PORT: '1',
      WORKSPACE_SERVICE_LOUD: 'true',
      WORKSPACE_SERVICE_COLOURS: 'red',
    };
    const flags = { port: 2, loud: false, colours: ['blue'] };
    expect(read([...enough, '--port=2', '--loud=false', '--colours=blue'], environment)).toMatchObject({ flags });
    expect(problemsOf([...enough, '--port=2'], { WORKSPACE_SERVICE_PORT: 'nonsense' })).toEqual([]);
  });

  test('takes lists by comma and by repetition, and from the environment by comma', () => {
    const colours = ['red', 'green', 'blue'];
    expect(read([...enough, '--colours', 'red, green', '--colours=blue'])).toMatchObject({ flags: { colours } });
    expect(read(enough, { WORKSPACE_SERVICE_COLOURS: 'red,green,blue' })).toMatchObject({ flags: { colours } });
  });

  test.each([
    ['true', true],
    ['1', true],
    ['false', false],
    ['0', false],
  ])('reads the switch %s in the environment', (value, loud) => {
    expect(read(enough, { WORKSPACE_SERVICE_LOUD: value })).toMatchObject({ flags: { loud } });
  });

  test.each(['yes', 'TRUE', 'on', '2', ' '])('refuses the switch "%s" in the environment by its name', (value) => {
    expect(problemsOf(enough, { WORKSPACE_SERVICE_LOUD: value })).toEqual([
      `WORKSPACE_SERVICE_LOUD is "${value}". It has to be true, false, 1 or 0.`,
    ]);
  });

  test('takes an empty variable for none', () => {
    expect(read(enough, { WORKSPACE_SERVICE_PORT: '', WORKSPACE_SERVICE_LOUD: '' })).toEqual(read(enough));
  });

  test('ignores the variables of other commands', () => {
    expect(read(enough, { WORKSPACE_SERVICE_REST: 'x', PORT: '7' })).toEqual(read(enough));
  });

  test('tells everything that is wrong at once', () => {
    expect(
      problemsOf(['here', 'there', '--nam', 'ada', '--port', '101', '--toys', 'b4ll,car,', '--friend'], {
        WORKSPACE_SERVICE_LOUD: 'maybe',
      }),
    ).toEqual([
      '"--nam" is not a flag of "game play". Did you mean --name?',
      '--friend needs a value: who else. Write it as --friend=X.',
      '--name is missing: who plays.',
      '--port is "101". It has to be a whole number from 0 to 100.',
      '--toys is "b4ll". It has to be a word.',
      '--toys is "". It has to be a word.',
      'WORKSPACE_SERVICE_LOUD is "maybe". It has to be true, false, 1 or 0.',
      '"there" is one argument too many: "game play" takes PLACE.',
    ]);
  });

  test('does not take the next flag for a value', () => {
    expect(problemsOf(['here', '--name', '--toys', 'ball'])).toEqual([
      '--name needs a value: who plays. Write it as --name=X.',
    ]);
    expect(problemsOf([...enough, '--port=-5'])).toEqual([
      '--port is "-5". It has to be a whole number from 0 to 100.',
    ]);
  });

  test('refuses a second value where there is room for one', () => {
    expect(problemsOf([...enough, '--port=1', '--port=2'])).toEqual([
      '--port is given more than once, and takes one value.',
    ]);
  });

  test('never repeats a value that may be secret', () => {
    const problems = [
      ...problemsOf([...enough, '--remote=s3cret1']),
      ...problemsOf(enough, { WORKSPACE_SERVICE_REMOTE: 's3cret2' }),
    ];
    expect(problems).toEqual([
      '--remote cannot be used. It has to be a word.',
      'WORKSPACE_SERVICE_REMOTE cannot be used. It has to be a word.',
    ]);
  });

  test.each([['--help'], ['-h'], ['help'], ['here', '--nonsense', '-h']])('asks for help with %s', (...args) => {
    expect(read(args)).toEqual({ kind: 'help' });
  });

  test.each(['__proto__', 'constructor', 'toString'])('does not know the flag --%s', (name) => {
    expect(problemsOf([...enough, `--${name}`])).toHaveLength(1);
    expect(problemsOf([...enough, `--${name}=x`])).toHaveLength(1);
  });

  test('takes what stands behind -- for an argument', () => {
    expect(read(['--name=ada', '--toys=ball', '--', 'help'])).toMatchObject({ arguments: { place: 'help' } });
  });
});

test('a flag is named after its variable', () => {
  expect(variableOf('allow-hook-network')).toBe('WORKSPACE_SERVICE_ALLOW_HOOK_NETWORK');
});
