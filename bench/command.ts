import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { Argument, Command, CommanderError, Option } from 'commander';
import { withText } from '../scripts/markdown.ts';
import type { Benchmark } from './benchmark.ts';
import { objection, readResults, troubles } from './results.ts';
import { runAll } from './run.ts';
import { figuresMarkdown, terminalText } from './table.ts';

interface Options {
  readonly quick?: boolean;
  readonly table?: true;
  readonly out: string;
}

const description = `Runs the named benchmarks, or all of them, and prints a table of their figures and limits.
The measurements are written to results.json.`;

const exitHelp =
  'The exit code is 0, or 1 if a limit is missed or a benchmark fails, or 2 if the arguments are invalid.';

/** Runs the command with these benchmarks, and returns its exit code. */
export async function bench(args: readonly string[], all: readonly Benchmark[]): Promise<number> {
  const width = Math.max(...all.map(({ name }) => name.length));
  const list = all.map(({ name, what }) => `  ${name.padEnd(width)}  ${what}`).join('\n');
  const tableHelp = 'run no benchmarks, and write the results of the last run into docs/scaling.md';
  const command = new Command('npm run bench --')
    .description(description)
    .addArgument(new Argument('[name...]', 'names of benchmarks').choices(all.map(({ name }) => name)))
    .option('--quick', 'run few and small rounds, only to check that everything works')
    .option('--out <folder>', 'folder of results.json', import.meta.dirname)
    .addOption(new Option('--table', tableHelp).conflicts('quick'))
    .addHelpText('after', `\n${list}\n\n${exitHelp}`);
  try {
    command.exitOverride().showHelpAfterError('Run with --help for usage.').parse(args, { from: 'user' });
    const options = command.opts<Options>();
    const wanted = all.filter(({ name }) => command.args.length === 0 || command.args.includes(name));
    if (!options.table) return await run(wanted, options);
    if (command.args.length > 0) command.error('error: --table runs no benchmarks. Remove their names.');
    return await writeTable(options.out, all);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}

/** npm forwards a Ctrl-C that the terminal has sent to all processes: a second one within this time is a duplicate. */
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
    process.stderr.write('\nStopped. All processes have ended, and the temporary folder was removed.\n');
    return stopped.code;
  }
}

/** Reports progress on stderr, with the time since the start: stdout has only the result. */
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
