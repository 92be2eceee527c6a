import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readResults } from '../results.ts';
import { type Request, readArguments, usage } from './arguments.ts';

const page = join(import.meta.dirname, '../../docs/scaling.md');

async function run({ study: request, results: file, json, write }: Extract<Request, { kind: 'run' }>): Promise<number> {
  const read = await readResults(file);
  if (read.kind === 'missing') {
    process.stderr.write(`${read.sentence}\n`);
    return 1;
  }
  // Whoever asks for help does not wait for all of the action to be loaded.
  const { study } = await import('./study.ts');
  const { asText, tablesOf, withTables } = await import('./tables.ts');
  // Nobody looks at where an error was made, and to find it out takes longer than all the rest of a request.
  Error.stackTraceLimit = 0;
  const startedAt = performance.now();
  const made = await study(request, read.results, (text) => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    process.stderr.write(`${String(seconds).padStart(5)} s  ${text}\n`);
  });
  if (made === undefined) {
    process.stderr.write(
      `${file} does not tell how long the service takes on ${request.database}. Run npm run bench -- service polls.\n`,
    );
    return 1;
  }
  const tables = tablesOf(made);
  if (write) await writeFile(page, withTables(await readFile(page, 'utf8'), tables));
  process.stdout.write(json ? `${JSON.stringify(made, undefined, 2)}\n` : `\n${tables.map(asText).join('\n')}`);
  return 0;
}

const request = readArguments(process.argv.slice(2));
switch (request.kind) {
  case 'help':
    process.stdout.write(usage);
    break;
  case 'mistake':
    process.stderr.write(`${request.sentence}\n`);
    process.exitCode = 2;
    break;
  case 'run':
    process.exitCode = await run(request);
}
