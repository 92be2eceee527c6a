import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { createProgress, runCommand } from '../command.ts';
import { readResults } from '../results.ts';
import { markdownTable, withText } from '../table.ts';
import { usualWorkload as usual, type Workload } from './workload.ts';

const description = `Simulates jobs that lock paths, with the action's own code for waiting, against a service that takes as long as
bench/results.json says, and tells how long they wait, what the service does meanwhile and what breaks first.
First run: npm run bench -- service polls`;

const wholeUpTo =
  (max: number) =>
  (text: string): number => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= 1 && value <= max) return value;
    throw new InvalidArgumentError(`It is a whole number from 1 to ${max}.`);
  };

const databases = { sqlite: 'SQLite', postgresql: 'PostgreSQL' } as const;

interface Options extends Pick<Workload, 'jobs' | 'instances'> {
  readonly seed: number;
  readonly minutes: number;
  readonly database: keyof typeof databases;
  readonly results: string;
  readonly alone?: true;
  readonly write?: true;
}

const command = new Command('npm run simulate --')
  .description(description)
  .option('--jobs <n>', 'at the same time', wholeUpTo(10_000_000), usual.jobs)
  .option('--seed <n>', 'the same seed gives the same figures', wholeUpTo(10_000_000), 1)
  .option(
    '--minutes <n>',
    'simulated, after the time that it takes until nothing is new any more',
    wholeUpTo(10_000),
    10,
  )
  .addOption(new Option('--database <name>').choices(Object.keys(databases)).default('sqlite'))
  .option('--instances <n>', 'of the service', wholeUpTo(1_000), usual.instances)
  .option('--results <file>', 'what npm run bench has measured', join(import.meta.dirname, '../results.json'))
  .option('--alone', 'only that: nothing with more or fewer jobs, or with another service')
  .addOption(new Option('--write', 'writes the tables into docs/scaling.md as well').conflicts('alone'))
  .addHelpText(
    'after',
    '\nIt ends with 0, with 1 when the service was not measured, and with 2 when it was called wrongly.',
  );

const page = join(import.meta.dirname, '../../docs/scaling.md');

async function run(): Promise<number> {
  const { database, results: file, alone = false, write, jobs, instances, ...options } = command.opts<Options>();
  if (database === 'sqlite' && instances > 1) {
    command.error('error: On SQLite there is one instance: --instances goes with --database postgresql.');
  }
  const results = await readResults(file);
  if (typeof results === 'string') {
    process.stderr.write(`${results}\n`);
    return 1;
  }
  // Whoever asks for help does not wait for all of the action to be loaded.
  const { study } = await import('./study.ts');
  const { asText, isNumber, tablesOf } = await import('./tables.ts');
  // Nobody looks at where an error was made, and to find it out takes longer than all the rest of a request.
  Error.stackTraceLimit = 0;
  const request = { ...options, workload: { ...usual, jobs, instances }, database: databases[database], alone };
  const made = await study(request, results, createProgress());
  if (made === undefined) {
    process.stderr.write(
      `${file} does not tell how long the service takes on ${request.database}. Run npm run bench -- service polls.\n`,
    );
    return 1;
  }
  const tables = tablesOf(made);
  if (write) {
    let text = await readFile(page, 'utf8');
    for (const table of tables) text = withText(text, `simulate ${table.name}`, markdownTable({ ...table, isNumber }));
    await writeFile(page, text);
  }
  process.stdout.write(`\n${tables.map(asText).join('\n')}`);
  return 0;
}

process.exitCode = await runCommand(command, process.argv.slice(2), run);
