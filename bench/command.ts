import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Benchmark } from './benchmark.ts';
import { objection, readResults, troubles } from './results.ts';
import { runAll } from './run.ts';
import { figuresMarkdown, tableOf, withText } from './table.ts';

function usageOf(all: readonly Pick<Benchmark, 'name' | 'what'>[]): string {
  const width = Math.max(...all.map(({ name }) => name.length));
  return `Usage: npm run bench [-- NAME... --quick --json --out FOLDER]
       npm run bench -- --table

Runs the named benchmarks, or all of them, and prints a table with a limit beside every figure that has one.
What is measured is written to results.json.

${all.map(({ name, what }) => `  ${name.padEnd(width)}  ${what}`).join('\n')}

  --quick       few and small rounds, to see that everything works: the figures mean little
  --json        prints the results as JSON instead of the table
  --out FOLDER  where results.json is (bench/)
  --table       runs nothing, and writes the results of the last run into docs/scaling.md and README.md
  -h, --help    shows this help

It ends with 0, with 1 when a limit is missed or a benchmark fails, and with 2 when it was called wrongly.
`;
}

const options = {
  quick: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  table: { type: 'boolean', default: false },
  out: { type: 'string', default: import.meta.dirname },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** Throws a sentence about what is wrong with them. */
function readArguments(args: readonly string[], all: readonly Benchmark[]) {
  const { values, positionals: names } = parseArgs({ args: [...args], options, allowPositionals: true });
  const unknown = names.find((name) => !all.some((each) => each.name === name));
  if (unknown !== undefined) {
    const known = all.map(({ name }) => name).join(', ');
    throw new TypeError(`There is no benchmark ${JSON.stringify(unknown)}, but there is ${known}.`);
  }
  if (values.table && (names.length > 0 || values.quick || values.json)) {
    throw new TypeError('--table runs nothing: no benchmark, --quick or --json goes with it.');
  }
  const wanted = all.filter(({ name }) => names.length === 0 || names.includes(name));
  return { ...values, wanted, folder: resolve(values.out) };
}

/** Shows the help, tells a mistake in the arguments, or does what they ask for; gives the exit code. */
export async function runCommand<Request>(
  args: readonly string[],
  usage: string,
  readArguments: (args: readonly string[]) => Request,
  run: (request: Request) => Promise<number>,
): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(usage);
    return 0;
  }
  let request: Request;
  try {
    request = readArguments(args);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Node's further sentences are about names that begin with a dash.
    const [sentence = ''] = error.message.split(/\.\s/);
    process.stderr.write(`${sentence.replace(/\.?$/, '.')} --help says more.\n`);
    return 2;
  }
  return run(request);
}

const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** npm passes on the Ctrl-C that the terminal has already sent to everybody: a second one so soon is the same. */
const sameSignalMs = 1_000;

/** Tells on stderr what is being done, and since when: stdout has the result alone. */
export function createProgress(): (text: string) => void {
  const startedAt = performance.now();
  return (text) => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    process.stderr.write(`${String(seconds).padStart(5)} s  ${text}\n`);
  };
}

async function run({ wanted, quick, json, folder }: ReturnType<typeof readArguments>): Promise<number> {
  const stop = new AbortController();
  let code: number | undefined;
  let stoppedAt: number | undefined;
  for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (stoppedAt !== undefined && performance.now() - stoppedAt > sameSignalMs) process.exit(exitCodes[name]);
      stoppedAt ??= performance.now();
      code ??= exitCodes[name];
      stop.abort();
    });
  }
  const tell = createProgress();
  const progress = (text: string): void => {
    if (!stop.signal.aborted) tell(text);
  };
  try {
    const results = await runAll(wanted, { quick, signal: stop.signal, progress });
    const text = `${JSON.stringify(results, undefined, 2)}\n`;
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'results.json'), text);
    process.stdout.write(json ? text : `\n${tableOf(results)}`);
    return troubles(results).length === 0 ? 0 : 1;
  } catch (error) {
    if (code === undefined) throw error;
    process.stderr.write('\nStopped. Nothing runs any more, and the temporary folder is gone.\n');
    return code;
  }
}

const root = join(import.meta.dirname, '..');
const pages = [
  { file: join(root, 'docs/scaling.md'), where: 'in docs' },
  { file: join(root, 'README.md'), where: 'in README' },
] as const;

async function writeTables(folder: string, all: readonly Benchmark[]): Promise<number> {
  const read = await readResults(join(folder, 'results.json'));
  const sentence = read.kind === 'missing' ? read.sentence : objection(read.results, all);
  if (read.kind === 'missing' || sentence !== undefined) {
    process.stderr.write(`${sentence}\n`);
    return 1;
  }
  for (const { file, where } of pages) {
    await writeFile(file, withText(await readFile(file, 'utf8'), 'bench', figuresMarkdown(read.results, where)));
  }
  return 0;
}

/** The command with these benchmarks, and its exit code. */
export const bench = (args: readonly string[], all: readonly Benchmark[]): Promise<number> =>
  runCommand(
    args,
    usageOf(all),
    () => readArguments(args, all),
    (request) => (request.table ? writeTables(request.folder, all) : run(request)),
  );
