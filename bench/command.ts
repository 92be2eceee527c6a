import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { Argument, Command, CommanderError, Option } from 'commander';
import { withText } from '../docs/markdown.ts';
import type { Benchmark } from './benchmark.ts';
import { objection, readResults, troubles } from './results.ts';
import { runAll } from './run.ts';
import { figuresMarkdown, terminalText } from './table.ts';

interface Options {
  readonly quick?: boolean;
  readonly table?: true;
  readonly out: string;
}

const description = `Runs the named benchmarks, or all of them, and prints a table with a limit beside every figure that has one.
What is measured is written to results.json.`;

const exitHelp =
  'It ends with 0, with 1 when a limit is missed or a benchmark fails, and with 2 when it was called wrongly.';

/** The command with these benchmarks, and its exit code. */
export async function bench(args: readonly string[], all: readonly Benchmark[]): Promise<number> {
  const width = Math.max(...all.map(({ name }) => name.length));
  const list = all.map(({ name, what }) => `  ${name.padEnd(width)}  ${what}`).join('\n');
  const tableHelp = 'runs nothing, and writes the results of the last run into docs/scaling.md';
  const command = new Command('npm run bench --')
    .description(description)
    .addArgument(new Argument('[name...]', 'of benchmarks').choices(all.map(({ name }) => name)))
    .option('--quick', 'few and small rounds, to see that everything works: the figures mean little')
    .option('--out <folder>', 'where results.json is', import.meta.dirname)
    .addOption(new Option('--table', tableHelp).conflicts('quick'))
    .addHelpText('after', `\n${list}\n\n${exitHelp}`);
  try {
    command.exitOverride().showHelpAfterError('--help says more.').parse(args, { from: 'user' });
    const options = command.opts<Options>();
    const wanted = all.filter(({ name }) => command.args.length === 0 || command.args.includes(name));
    if (!options.table) return await run(wanted, options);
    if (command.args.length > 0) command.error('error: --table runs nothing: no benchmark goes with it.');
    return await writeTable(options.out, all);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}

/** npm passes on the Ctrl-C that the terminal has already sent to everybody: a second one so soon is the same. */
const sameSignalMs = 1_000;

async function run(wanted: readonly Benchmark[], { quick = false, out }: Options): Promise<number> {
  const stop = new AbortController();
  let stopped: { readonly code: number; readonly at: number } | undefined;
  const onSignal = (name: NodeJS.Signals): void => {
    const code = 128 + constants.signals[name];
    if (stopped !== undefined && performance.now() - stopped.at > sameSignalMs) process.exit(code);
    stopped ??= { code, at: performance.now() };
    stop.abort();
  };
  for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(name, onSignal);
  const { signal } = stop;
  const tell = createProgress();
  const progress = (text: string): void => void (signal.aborted || tell(text));
  try {
    const results = await runAll(wanted, { quick, signal, progress });
    await mkdir(out, { recursive: true });
    await writeFile(join(out, 'results.json'), `${JSON.stringify(results, undefined, 2)}\n`);
    process.stdout.write(`\n${terminalText(results)}`);
    return troubles(results).length === 0 ? 0 : 1;
  } catch (error) {
    if (stopped === undefined) throw error;
    process.stderr.write('\nStopped. Nothing runs any more, and the temporary folder is gone.\n');
    return stopped.code;
  }
}

/** Tells on stderr what is being done, and since when: stdout has the result alone. */
function createProgress(): (text: string) => void {
  const startedAt = performance.now();
  return (text) => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    process.stderr.write(`${String(seconds).padStart(5)} s  ${text}\n`);
  };
}

const page = join(import.meta.dirname, '../docs/scaling.md');

async function writeTable(folder: string, all: readonly Benchmark[]): Promise<number> {
  const results = await readResults(join(folder, 'results.json'));
  const usable = typeof results === 'string' ? results : (objection(results, all) ?? results);
  if (typeof usable === 'string') {
    process.stderr.write(`${usable}\n`);
    return 1;
  }
  await writeFile(page, withText(await readFile(page, 'utf8'), 'bench', figuresMarkdown(usable)));
  return 0;
}
