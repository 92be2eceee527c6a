import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readArguments, usageOf } from './arguments.ts';
import { benchmarks } from './benchmarks.ts';
import { troubles } from './results.ts';
import { runAll } from './run.ts';
import { tableOf } from './table.ts';

const resultsFile = join(import.meta.dirname, 'results.json');

const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** npm passes on the Ctrl-C that the terminal has sent to everybody: so soon after the first, it is the same wish. */
const sameWishMs = 1_000;

async function run(names: readonly string[], quick: boolean, json: boolean): Promise<number> {
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
    const wanted = benchmarks.filter(({ name }) => names.length === 0 || names.includes(name));
    const results = await runAll(wanted, { quick, signal: stop.signal, progress });
    const text = `${JSON.stringify(results, undefined, 2)}\n`;
    await writeFile(resultsFile, text);
    process.stdout.write(json ? text : `\n${tableOf(results)}`);
    return troubles(results).length === 0 ? 0 : 1;
  } catch (error) {
    if (code === undefined) throw error;
    process.stderr.write('\nStopped. Nothing runs any more, and the temporary folder is gone.\n');
    return code;
  }
}

const request = readArguments(process.argv.slice(2), benchmarks);
switch (request.kind) {
  case 'help':
    process.stdout.write(usageOf(benchmarks));
    break;
  case 'mistake':
    process.stderr.write(`${request.sentence}\n`);
    process.exitCode = 2;
    break;
  case 'table':
    break;
  case 'run':
    // What a stopped benchmark still waits for keeps nobody waiting.
    process.exit(await run(request.names, request.quick, request.json));
}
