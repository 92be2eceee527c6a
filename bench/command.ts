import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Request, readArguments, usageOf } from './arguments.ts';
import type { Benchmark } from './benchmark.ts';
import { objection, withResults } from './readme.ts';
import { pageOf } from './report/page.ts';
import { readResults, troubles } from './results.ts';
import { runAll } from './run.ts';
import { tableOf } from './table.ts';

const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** npm passes on the Ctrl-C that the terminal has sent to everybody: so soon after the first, it is the same wish. */
const sameWishMs = 1_000;

type Of<Kind extends Request['kind']> = Extract<Request, { kind: Kind }>;

async function run({ names, quick, json, folder }: Of<'run'>, all: readonly Benchmark[]): Promise<number> {
  const stop = new AbortController();
  let code: number | undefined;
  let wishedAt: number | undefined;
  for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (wishedAt !== undefined && performance.now() - wishedAt > sameWishMs) process.exit(exitCodes[name]);
      wishedAt ??= performance.now();
      code ??= exitCodes[name];
      stop.abort();
    });
  }
  const startedAt = performance.now();
  // On the other stream: what is printed to stdout is the result alone.
  const progress = (text: string): void => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    if (!stop.signal.aborted) process.stderr.write(`${String(seconds).padStart(5)} s  ${text}\n`);
  };
  try {
    const wanted = all.filter(({ name }) => names.length === 0 || names.includes(name));
    const results = await runAll(wanted, { quick, signal: stop.signal, progress });
    const text = `${JSON.stringify(results, undefined, 2)}\n`;
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'results.json'), text);
    await writeFile(join(folder, 'report.html'), pageOf(results));
    process.stdout.write(json ? text : `\n${tableOf(results)}\nWith charts: ${join(folder, 'report.html')}\n`);
    return troubles(results).length === 0 ? 0 : 1;
  } catch (error) {
    if (code === undefined) throw error;
    process.stderr.write('\nStopped. Nothing runs any more, and the temporary folder is gone.\n');
    return code;
  }
}

const readme = join(import.meta.dirname, '../README.md');

async function writeTable({ folder }: Of<'table'>, all: readonly Benchmark[]): Promise<number> {
  const read = await readResults(join(folder, 'results.json'));
  const sentence = read.kind === 'missing' ? read.sentence : objection(read.results, all);
  if (read.kind === 'missing' || sentence !== undefined) {
    process.stderr.write(`${sentence}\n`);
    return 1;
  }
  await writeFile(readme, withResults(await readFile(readme, 'utf8'), read.results));
  return 0;
}

/** The command with these benchmarks, and its exit code. */
export async function bench(args: readonly string[], all: readonly Benchmark[]): Promise<number> {
  const request = readArguments(args, all);
  switch (request.kind) {
    case 'help':
      process.stdout.write(usageOf(all));
      return 0;
    case 'mistake':
      process.stderr.write(`${request.sentence}\n`);
      return 2;
    case 'table':
      return writeTable(request, all);
    case 'run':
      return run(request, all);
  }
}
