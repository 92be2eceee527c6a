import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { withText } from '../../docs/markdown.ts';
import { createProgress, runCommand } from '../command.ts';
import { readResults } from '../results.ts';
import { alignedTable, markdownText } from '../table.ts';
import { type StudyRequest, study } from './study.ts';
import { tablesOf } from './tables.ts';
import { usualWorkload, type Workload } from './workload.ts';

const description = `Simulates jobs that lock paths, with the action's own code for waiting, against a service that takes as long as
bench/results.json says, and tells how long they wait, what the service does meanwhile and what breaks first.
First run: npm run bench -- service polls`;

function wholeNumber(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= 10_000_000) return value;
  throw new InvalidArgumentError('It is a whole number from 1 to 10000000.');
}

const command = new Command('npm run simulate --')
  .description(description)
  .option('--jobs <n>', 'at the same time', wholeNumber, usualWorkload.jobs)
  .option('--seed <n>', 'the same seed gives the same figures', wholeNumber, 1)
  .option('--minutes <n>', 'simulated, after the time that it takes until nothing is new any more', wholeNumber, 10)
  .option('--results <file>', 'what npm run bench has measured', join(import.meta.dirname, '../results.json'))
  .option('--alone', 'only that: nothing with more or fewer jobs, or with another service')
  .addOption(new Option('--write', 'writes the tables into docs/scaling.md as well').conflicts('alone'))
  .addHelpText(
    'after',
    '\nIt ends with 0, with 1 when the service was not measured, and with 2 when it was called wrongly.',
  );

type Options = Pick<StudyRequest, 'seed' | 'minutes'> &
  Pick<Workload, 'jobs'> & { readonly results: string; readonly alone?: true; readonly write?: true };

const page = join(import.meta.dirname, '../../docs/scaling.md');

async function run(): Promise<number> {
  const { results: file, alone = false, write, jobs, ...options } = command.opts<Options>();
  const results = await readResults(file);
  // Nobody looks at where an error was made, and to find it out takes longer than all the rest of a request.
  Error.stackTraceLimit = 0;
  const request = { ...options, workload: { ...usualWorkload, jobs }, alone };
  const made = typeof results === 'string' ? results : await study(request, results, createProgress());
  if (typeof made === 'string') {
    process.stderr.write(`${made}\n`);
    return 1;
  }
  const tables = tablesOf(made);
  if (write) {
    let text = await readFile(page, 'utf8');
    for (const table of tables) text = withText(text, `simulate ${table.name}`, markdownText(table));
    await writeFile(page, text);
  }
  for (const table of tables) process.stdout.write(`\n${table.title}\n${alignedTable(table)}\n`);
  return 0;
}

process.exitCode = await runCommand(command, process.argv.slice(2), run);
