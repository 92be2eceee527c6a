import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { withText } from '../scripts/markdown.ts';
import { errorMessage } from '../src/interface/format.ts';
import { accepted, refused } from '../src/interface/parsed.ts';
import type { Benchmark } from './benchmark.ts';
import { objection, readResults, troubles } from './results.ts';
import { runAll } from './run.ts';
import { figuresMarkdown, terminalText } from './table.ts';

interface Options {
  readonly quick: boolean;
  readonly out: string;
}

const help = `Usage: npm run bench -- [NAME]... [--quick] [--out FOLDER] [--table]

Runs the named benchmarks, or all of them, and prints a table of their figures and limits.
The measurements are written to results.json.

  --quick       run few and small rounds, only to check that everything works
  --out FOLDER  folder of results.json
  --table       run no benchmarks, and write the results of the last run into docs/scaling.md
`;

const exitHelp =
  'The exit code is 0, or 1 if a limit is missed or a benchmark fails, or 2 if the arguments are invalid.';

const flag = { type: 'boolean', default: false } as const;
const options = { quick: flag, table: flag, help: { ...flag, short: 'h' }, out: { type: 'string' } } as const;

/** Runs the command with these benchmarks, and returns its exit code. */
export async function bench(args: readonly string[], all: readonly Benchmark[]): Promise<number> {
  const names = all.map(({ name }) => name);
  const read = readArguments(args, names);
  if (!read.ok) {
    process.stderr.write(`${read.reason}\nRun with --help for usage.\n`);
    return 2;
  }
  const { values, positionals } = read.value;
  const { quick, out = import.meta.dirname } = values;
  if (values.help) {
    const width = Math.max(...names.map(({ length }) => length));
    const list = all.map(({ name, what }) => `  ${name.padEnd(width)}  ${what}`).join('\n');
    process.stdout.write(`${help}\n${list}\n\n${exitHelp}\n`);
    return 0;
  }
  if (values.table) return writeTable(out, all);
  const wanted = all.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  return run(wanted, { quick, out });
}

function readArguments(args: readonly string[], names: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const unknown = positionals.find((name) => !names.includes(name));
    if (unknown !== undefined) return refused(`There is no benchmark ${unknown}.`);
    if (values.table && (values.quick || positionals.length > 0)) return refused('--table runs no benchmarks.');
    return accepted({ values, positionals });
  } catch (error) {
    return refused(errorMessage(error));
  }
}

/** npm forwards a Ctrl-C that the terminal has sent to all processes: a second one within this time is a duplicate. */
const sameSignalMs = 1_000;

async function run(wanted: readonly Benchmark[], { quick, out }: Options): Promise<number> {
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
