import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { figuresOf, type Results } from '../../bench/results.ts';
import { leaveOut } from '../support/left-out.ts';
import { startProgram } from './program.ts';

const bench = join(import.meta.dirname, '../../bench');

/** Starts the command, with its own benchmarks or with this list, given as source code. */
async function start(args: readonly string[], list?: string) {
  const [out, temporary] = [await mkdtemp(join(tmpdir(), 'bench-')), await mkdtemp(join(tmpdir(), 'bench-tmp-'))];
  onTestFinished(async () => {
    for (const each of [out, temporary]) await rm(each, { recursive: true, force: true, maxRetries: 5 });
  });
  const file = join(list === undefined ? bench : out, 'main.ts');
  if (list !== undefined) {
    const command = pathToFileURL(join(bench, 'command.ts')).href;
    await writeFile(
      file,
      `import { bench } from ${JSON.stringify(command)};
       import { writeFileSync } from 'node:fs';
       import { tmpdir } from 'node:os';
       process.exit(await bench(process.argv.slice(2), ${list}));`,
    );
  }
  /** Names of the files that remain in its temporary folder. */
  const left = () => readdir(temporary);
  return { ...startProgram([file, '--out', out, ...args], { TMPDIR: temporary }), out, left };
}

const measuring = (...figures: readonly object[]): string =>
  `{ name: 'one', what: 'One.', measure: async () => (${JSON.stringify(figures)}) }`;
const oneFigure = (value: number): string =>
  measuring({ name: 'a figure', value, unit: '×', limit: { kind: 'at least', value: 5, reason: 'so it is' } });

test('runs a benchmark by name, and leaves only its results', async () => {
  const running = await start(['size', '--quick']);
  const { code, stderr } = await running.ended;
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stderr).toMatch(/^ +\d+ s {2}size: Size of the files/m);
  const results: Results = JSON.parse(await readFile(join(running.out, 'results.json'), 'utf8'));
  expect(results.benchmarks.map(({ name }) => name)).toEqual(['size']);
  expect(await running.left()).toEqual([]);
});

test('measures acquired locks with three hooks registered as well as with none', async () => {
  const running = await start(['service', '--quick']);
  expect((await running.ended).code).toBe(0);
  const results: Results = JSON.parse(await readFile(join(running.out, 'results.json'), 'utf8'));
  const names = results.benchmarks.flatMap(figuresOf).map(({ name }) => name);
  const where = 'SQLite, 32 clients, rate limit off, 3 hooks registered';
  expect(names).toEqual(expect.arrayContaining([`${where}: relative to no hooks`]));
  expect(await running.left()).toEqual([]);
});

test.each([['sise'], ['--quik'], ['--table', 'size'], ['--table', '--quick']])(
  'rejects the arguments %j %j with exit code 2, and runs nothing',
  async (...args) => {
    const running = await start(args);
    const stderr = expect.stringMatching(/^error: .*\n(.*\n)?Run with --help for usage\.\n$|^error: --table runs no/);
    expect(await running.ended).toEqual({ code: 2, stdout: '', stderr });
    expect(await readdir(running.out)).toEqual([]);
  },
);

test.each([
  [5, 0, 'kept', 'All limits were kept.'],
  [4.9, 1, 'MISSED', 'One limit was missed.'],
])('a figure of %d with a limit of at least 5 ends the command with %d', async (value, code, verdict, sentence) => {
  const { code: its, stdout } = await (await start([], `[${oneFigure(value)}]`)).ended;
  expect(its).toBe(code);
  expect(stdout).toMatch(new RegExp(`^ {2}a figure .* at least 5 × +${verdict}$`, 'm'));
  expect(stdout).toContain(sentence);
});

test('a quick run checks exact figures, but no times', async () => {
  const count = { name: 'a count', value: 1, unit: '', limit: { kind: 'exactly', value: 0, reason: '' } };
  const time = { name: 'a time', value: 9, unit: 'ms', limit: { kind: 'at most', value: 5, reason: '' } };
  const { code, stdout } = await (await start(['--quick'], `[${measuring(count, time)}]`)).ended;
  expect(code).toBe(1);
  expect(stdout).toMatch(/^ {2}a count .*MISSED$/m);
  expect(stdout).toMatch(/^ {2}a time +9 ms$/m);
});

test('a failed benchmark does not stop the others, and ends the command with 1', async () => {
  const failing = `{ name: 'bad', what: 'Bad.', measure: async (bench) => {
    bench.atEnd(() => bench.progress('first begun, last ended'));
    bench.atEnd(() => { throw new Error('no end') });
    throw new Error('no luck');
  } }`;
  const running = await start([], `[${failing}, ${oneFigure(5)}]`);
  const { code, stdout, stderr } = await running.ended;
  expect(code).toBe(1);
  expect(stdout).toContain('The benchmark "bad" failed: no luck\n');
  expect(stdout).toMatch(/a figure .* kept$/m);
  expect(stderr).toMatch(/bad: no end\n.*bad: first begun, last ended\n/);
  expect(await running.left()).toEqual([]);
});

test('Ctrl-C stops the running benchmark, removes its files, and prints no results', async (context) => {
  if (process.platform === 'win32') leaveOut(context, 'On Windows no process can send a Ctrl-C to one other.');
  const hanging = `{ name: 'slow', what: 'Slow.', measure: async (bench) => {
    bench.atEnd(() => process.stdout.write('ended\\n'));
    writeFileSync(tmpdir() + '/something', '');
    bench.progress('at it');
    await new Promise((resolve) => setTimeout(resolve, 600_000));
  } }`;
  const running = await start([], `[${hanging}]`);
  await running.tells('slow: at it');
  expect(await running.left()).toHaveLength(1);
  running.interrupt();
  const { code, stdout, stderr } = await running.ended;
  expect({ code, stdout }).toEqual({ code: 130, stdout: 'ended\n' });
  expect(stderr).toContain('Stopped. All processes have ended');
  expect(await running.left()).toEqual([]);
  expect(await readdir(running.out)).toEqual(['main.ts']);
});
