import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, type TestContext, test } from 'vitest';
import type { Results } from '../../bench/results.ts';
import { leaveOut } from '../support/left-out.ts';

const bench = join(import.meta.dirname, '../../bench');

interface Ended {
  readonly code: number | NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Running {
  readonly ended: Promise<Ended>;
  /** For the results. */
  readonly out: string;
  /** All that it leaves in its folder for temporary files. */
  left(): Promise<readonly string[]>;
  /** When this is on stderr. */
  tells(text: string): Promise<void>;
  interrupt(): void;
}

async function start(file: (folder: string) => Promise<string>, args: readonly string[]): Promise<Running> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-test-'));
  const temporary = await mkdtemp(join(tmpdir(), 'bench-temporary-'));
  const child = spawn(process.execPath, [await file(folder), '--out', folder, ...args], {
    env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    for (const each of [folder, temporary]) await rm(each, { recursive: true, force: true, maxRetries: 5 });
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => resolve({ code: code ?? signal, stdout, stderr }));
  });
  return {
    ended,
    out: folder,
    left: () => readdir(temporary),
    tells: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (stderr.includes(text)) resolve();
        };
        child.stderr.on('data', look);
        look();
        void ended.then(() => reject(new Error(`It ended without "${text}":\n${stderr}`)));
      }),
    interrupt: () => void child.kill('SIGINT'),
  };
}

/** The command as it is. */
const real = async (): Promise<string> => join(bench, 'main.ts');

/** The command with benchmarks of the test, given as the source of their list. */
const having =
  (list: string) =>
  async (folder: string): Promise<string> => {
    const file = join(folder, 'main.ts');
    const command = pathToFileURL(join(bench, 'command.ts')).href;
    await writeFile(
      file,
      `import { bench } from ${JSON.stringify(command)};
       import { writeFileSync } from 'node:fs';
       import { tmpdir } from 'node:os';
       process.exit(await bench(process.argv.slice(2), ${list}));`,
    );
    return file;
  };

const oneFigure = (value: number) =>
  `{ name: 'one', what: 'One.', measure: async () => ({ figures: [
     { name: 'a figure', value: ${value}, unit: '×', limit: { kind: 'at least', value: 5, why: 'so it is' } } ] }) }`;

function needSignals(context: TestContext): void {
  if (process.platform === 'win32') leaveOut(context, 'On Windows no process can send a Ctrl-C to one other.');
}

test('a benchmark by name runs, and leaves its results and nothing else', async () => {
  const running = await start(real, ['size', '--quick', '--json']);
  const { code, stdout, stderr } = await running.ended;
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stderr).toMatch(/^ +\d+ s {2}size: What a runner downloads/m);
  const results: Results = JSON.parse(stdout);
  expect(results.benchmarks.map(({ name }) => name)).toEqual(['size']);
  expect(JSON.parse(await readFile(join(running.out, 'results.json'), 'utf8'))).toEqual(results);
  expect(await running.left()).toEqual([]);
});

test.each([
  [['sise'], /^There is no benchmark "sise", but there is .*size.* --help says more\.\n$/],
  [['--quik'], /^Unknown option '--quik'\. --help says more\.\n$/],
  [['--table', 'size'], /^--table runs nothing: .* --help says more\.\n$/],
])('%j is told as a mistake with exit code 2, and nothing runs', async (args, sentence) => {
  const running = await start(real, args);
  expect(await running.ended).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(sentence) });
  expect(await readdir(running.out)).toEqual([]);
});

test('help names every benchmark', async () => {
  const { code, stdout } = await (await start(real, ['--nonsense', '--help'])).ended;
  expect(code).toBe(0);
  expect([...stdout.matchAll(/^ {2}([a-z]\S*) {2,}\S/gm)].map(([, name]) => name)).toEqual([
    ...['start', 'size', 'locks', 'jobs', 'service', 'workspaces'],
    ...['lists', 'polls', 'hand-over', 'storm', 'syncs', 'deliveries'],
  ]);
});

test.each([
  [5, 0, 'kept', 'Every limit is kept.'],
  [4.9, 1, 'MISSED', 'One limit is missed.'],
])('a figure of %d, which should be 5 at least, ends it with %d', async (value, code, verdict, sentence) => {
  const { code: its, stdout } = await (await start(having(`[${oneFigure(value)}]`), [])).ended;
  expect(its).toBe(code);
  expect(stdout).toMatch(new RegExp(`^ {2}a figure .* at least 5 × +${verdict}$`, 'm'));
  expect(stdout).toContain(sentence);
});

test('a quick run judges what is exact, and no time', async () => {
  const figures = `[{ name: 'a count', value: 1, unit: '', limit: { kind: 'exactly', value: 0, why: '' } },
    { name: 'a time', value: 9, unit: 'ms', limit: { kind: 'at most', value: 5, why: '' } }]`;
  const list = `[{ name: 'one', what: 'One.', measure: async () => ({ figures: ${figures} }) }]`;
  const { code, stdout } = await (await start(having(list), ['--quick'])).ended;
  expect(code).toBe(1);
  expect(stdout).toMatch(/^ {2}a count .*MISSED$/m);
  expect(stdout).toMatch(/^ {2}a time +9 ms$/m);
});

test('a benchmark that fails keeps no other from running, and ends it with 1', async () => {
  const failing = `{ name: 'bad', what: 'Bad.', measure: async (bench) => {
    bench.atEnd(() => bench.progress('first begun, last ended'));
    bench.atEnd(() => { throw new Error('no end') });
    throw new Error('no luck');
  } }`;
  const running = await start(having(`[${failing}, ${oneFigure(5)}]`), []);
  const { code, stdout, stderr } = await running.ended;
  expect(code).toBe(1);
  expect(stdout).toContain('  failed: no luck\n');
  expect(stdout).toMatch(/a figure .* kept$/m);
  expect(stderr).toMatch(/bad: no end\n.*bad: first begun, last ended\n/);
  expect(await running.left()).toEqual([]);
});

test('after Ctrl-C what was begun is ended, no file is left, and no result is told', async (context) => {
  needSignals(context);
  const hanging = `{ name: 'slow', what: 'Slow.', measure: async (bench) => {
    bench.atEnd(() => process.stdout.write('ended\\n'));
    writeFileSync(tmpdir() + '/something', '');
    bench.progress('at it');
    await new Promise((resolve) => setTimeout(resolve, 600_000));
  } }`;
  const running = await start(having(`[${hanging}]`), []);
  await running.tells('slow: at it');
  expect(await running.left()).toHaveLength(1);
  running.interrupt();
  const { code, stdout, stderr } = await running.ended;
  expect(code).toBe(130);
  expect(stdout).toBe('ended\n');
  expect(stderr).toContain('Stopped. Nothing runs any more');
  expect(await running.left()).toEqual([]);
  expect(await readdir(running.out)).toEqual(['main.ts']);
});
